import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import t from 'tap';

/** The architecture: what each folder of src imports. What is not listed is forbidden. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  disk: ['node:crypto', 'node:fs', 'node:path'],
  config: ['domain', 'package.ts', 'zod', 'node:fs', 'node:path', 'node:url'],
  receipt: [
    'domain',
    'disk',
    '@noble/curves',
    '@noble/hashes',
    'bs58',
    'node:crypto',
    'node:fs',
    'node:net',
    'node:os',
    'node:path',
  ],
  chain: ['domain', '@noble/curves', '@noble/hashes', '@solana/web3.js', 'bs58'],
  cache: ['domain', 'lru-cache'],
  upstream: ['domain', 'undici', 'ws'],
  prices: ['domain', 'chain', 'upstream', 'zod'],
  access: ['domain', 'disk', 'bs58', 'ipaddr.js', 'node:crypto', 'node:fs', 'node:path', 'node:timers', 'node:zlib'],
  tokens: ['domain', 'chain', 'upstream', 'node:util'],
  pipeline: ['domain', 'chain', 'cache', 'upstream', 'tokens', 'rxjs'],
  routes: ['domain', 'cache', 'upstream', 'chain', 'tokens', 'prices', 'receipt', 'bs58', 'zod', 'secure-json-parse'],
  http: [
    'domain',
    'cache',
    'receipt',
    'access',
    'routes',
    'page',
    'uWebSockets.js',
    'msgpackr',
    'node:http',
    'node:crypto',
    'node:zlib',
  ],
  page: ['receipt', 'node:crypto', 'node:fs', 'node:util', 'node:zlib'],
  commands: [
    'config.ts',
    'config',
    'domain',
    'access',
    'receipt',
    'system-clock.ts',
    'bs58',
    'commander',
    'node:crypto',
    'node:fs',
  ],
  client: ['domain', 'receipt', 'routes', 'system-clock.ts'], // of the routes only the types: test/portable.test.ts
  cluster: [
    'system-clock.ts',
    'domain',
    'disk',
    'chain',
    '@solana/web3.js',
    '@solana-program/compute-budget',
    '@solana-program/system',
    '@solana-program/token',
    'bs58',
    'litesvm',
    'ws',
    'node:crypto',
    'node:events',
    'node:fs',
    'node:http',
    'node:path',
    'node:worker_threads',
  ],
};

const src = new URL('../../src/', import.meta.url); // from dist/test to src
const code = (file: string): string => readFileSync(new URL(file, src), 'utf8');
const imports = (file: string): string[] =>
  [...code(file).matchAll(/\b(?:from |import |import\()'([^']+)'/g)].map(([, specifier = '']) => specifier);

/** The folder or the package that a specifier leads to, seen from `file`. */
function layerOf(specifier: string, file: string): string {
  if (specifier.startsWith('.')) return join(dirname(file), specifier).split('/')[0] ?? '';
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

const layers = readdirSync(src, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

for (const layer of layers) {
  t.test(`src/${layer} imports what it may, and no more is allowed than that`, async (t) => {
    t.ok(layer in MAY_IMPORT, 'it is in the table');
    const allowed = new Set(MAY_IMPORT[layer]);
    const unused = new Set(allowed);
    const files = readdirSync(new URL(layer, src), { recursive: true, encoding: 'utf8' });
    for (const name of files.filter((name) => name.endsWith('.ts'))) {
      const file = `${layer}/${name}`;
      for (const specifier of imports(file)) {
        const target = layerOf(specifier, file);
        unused.delete(target);
        t.ok(target === layer || allowed.has(target), `${file} -> ${specifier}`);
      }
    }
    t.strictSame([...unused], []);
  });
}
