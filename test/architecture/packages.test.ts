import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { type Machine, whyNotLoadable } from '../../src/gateway/http/load-engine.ts';

t.test('locked-packages', async (t) => {
  interface LockedPackage {
    readonly integrity?: string;
    /** Installed for work on this project alone. */
    readonly dev?: boolean;
    readonly optional?: boolean;
    /** A folder of this project. */
    readonly link?: boolean;
    readonly os?: readonly string[];
    readonly hasInstallScript?: boolean;
  }

  const root = new URL('../../../', import.meta.url); // from dist/test/architecture
  const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
  const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(read('package-lock.json'));
  const installed = Object.entries(lock.packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link !== true,
  );

  /** Where nobody builds, tests or publishes: the tools' binaries of other systems. */
  const isForeignTool = ({ dev = false, optional = false, os = [] }: LockedPackage): boolean =>
    dev && optional && os.length > 0;

  t.test('each package that is installed has the digest of its bytes in the lock', async (t) => {
    const unchecked = installed.filter(([, entry]) => entry.integrity === undefined && !isForeignTool(entry));
    const uncheckedPaths = unchecked.map(([path]) => path);
    t.same(uncheckedPaths, []);
    const onLinux = installed.filter(
      ([path, { integrity }]) => /linux-x64(-gnu)?$/.test(path) && integrity === undefined,
    );
    t.same(onLinux, [], 'the tools of the system that builds and publishes');
  });

  t.test('no package of production runs a script when it is installed', async (t) => {
    const scripted = installed.filter(([, { hasInstallScript, dev }]) => hasInstallScript === true && dev !== true);
    const scriptedPaths = scripted.map(([path]) => path);
    t.same(scriptedPaths, []);
  });

  t.test('each action of a workflow is pinned by its commit, and none has a token that publishes', async (t) => {
    for (const name of ['ci', 'release']) {
      const workflow = read(`.github/workflows/${name}.yml`);
      const actions = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action);
      t.ok(actions.length > 0, name);
      const unpinned = actions.filter((action) => !/@[0-9a-f]{40}$/.test(action));
      t.same(unpinned, [], name);
      t.notMatch(workflow, /NODE_AUTH_TOKEN|secrets\./, name);
    }
    t.match(read('.github/workflows/release.yml'), /id-token: write/);
  });
});

t.test('native-engine', async (t) => {
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
          return (
            machine !== undefined && whyNotLoadable(name === 'uws-pack' ? 'uws-pack' : 'uws', machine) === undefined
          );
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
});
