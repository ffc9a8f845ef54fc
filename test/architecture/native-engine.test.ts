import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { type Machine, whyNotLoadable } from '../../src/http/load-engine.ts';

const security = readFileSync('.github/SECURITY.md', 'utf8');

/** The folders of the binaries, by the name of each package. */
const FOLDERS = {
  'uWebSockets.js': 'node_modules/uWebSockets.js',
  'uws-pack': 'node_modules/uws-pack/dist/bin',
} as const;

/** Returns the machine that a binary is for, by the name of its file. */
function machineOf(file: string): Machine | undefined {
  const [, platform = '', arch = '', abi = ''] = /^uws_(\w+?)_(\w+)_(\d+)\.node$/.exec(file) ?? [];
  return platform === '' ? undefined : { node: 'any', abi, platform, arch, glibc: '2.99' };
}

t.test('the binaries that can be loaded are those that SECURITY.md names, file by file', async (t) => {
  const documented = [...security.matchAll(/^\| `(\S+)` \| `(\S+\.node)` \| `([0-9a-f]{64})` \|$/gm)].map((row) =>
    row.slice(1),
  );
  const installed = Object.entries(FOLDERS).flatMap(([name, folder]) =>
    readdirSync(folder)
      .toSorted()
      .filter((file) => {
        const machine = machineOf(file);
        return machine !== undefined && whyNotLoadable(name === 'uws-pack' ? 'uws-pack' : 'uws', machine) === undefined;
      })
      .map((file) => [
        name,
        file,
        createHash('sha256')
          .update(readFileSync(`${folder}/${file}`))
          .digest('hex'),
      ]),
  );
  t.ok(installed.length > 0);
  t.same(installed, documented);
});

t.test('versions and integrities are those of the lock file', async (t) => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  for (const name of Object.keys(FOLDERS)) {
    const { version, integrity } = packages[`node_modules/${name}`];
    const row = security.split('\n').find((line) => line.startsWith(`| \`${name}\` | \``) && line.includes('sha512'));
    t.match(row, `| \`${version}\` | \`${integrity}\` |`);
  }
});
