import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const BINARIES = 'node_modules/uWebSockets.js/dist/bin';
const security = readFileSync('.github/SECURITY.md', 'utf8');

t.test('the engine is the one that SECURITY.md names, binary by binary', async (t) => {
  const documented = [...security.matchAll(/^\| `(\S+\.node)` \| `([0-9a-f]{64})` \|$/gm)].map(([, name, sha]) => [
    name,
    sha,
  ]);
  const installed = readdirSync(BINARIES)
    .toSorted()
    .map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(`${BINARIES}/${name}`))
        .digest('hex'),
    ]);
  t.ok(installed.length > 0);
  t.same(installed, documented);
});

t.test('its version and integrity are those of the lock file', async (t) => {
  const { version, integrity } = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages[
    'node_modules/uWebSockets.js'
  ];
  t.match(security, `- Version: \`${version}\``);
  t.match(security, `- Integrity: \`${integrity}\``);
});
