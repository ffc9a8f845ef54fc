import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import t from 'tap';

/**
 * The architecture: what each folder of src, and each loose file at its top, imports. What is not listed is forbidden, and
 * what is listed is needed.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'chain/error-tables': [],
  disk: ['node:crypto', 'node:fs', 'node:path'],
  domain: [],
  'first-of-kind.ts': [],
  'opened.ts': [],
  'package.ts': ['node:fs'],
  page: ['node:crypto', 'node:fs', 'node:util', 'node:zlib'],
  access: ['disk', 'domain', 'bs58', 'ipaddr.js', 'node:crypto', 'node:fs', 'node:path', 'node:timers', 'node:zlib'],
  cache: ['domain', 'lru-cache'],
  config: ['domain', 'package.ts', 'zod', 'node:fs', 'node:path', 'node:url'],
  'engine.ts': ['domain'],
  receipt: [
    'disk',
    'domain',
    '@noble/curves',
    '@noble/hashes',
    'bs58',
    'node:crypto',
    'node:fs',
    'node:net',
    'node:os',
    'node:path',
  ],
  'system-clock.ts': ['domain'],
  upstream: ['domain', 'undici', 'ws'],
  'config.ts': ['domain', 'config', 'zod', 'node:path'],
  'page/verify': ['receipt'],
  pipeline: ['domain', 'cache', 'upstream', 'rxjs'],
  commands: [
    'domain',
    'access',
    'config',
    'receipt',
    'system-clock.ts',
    'config.ts',
    'bs58',
    'commander',
    'node:crypto',
    'node:fs',
  ],
  'log.ts': ['config.ts', 'pino', 'pino-pretty'],
  'start.ts': ['log.ts'],
  'connect-nodes.ts': ['domain', 'opened.ts', 'upstream', 'config.ts', 'log.ts', 'cluster'],
  'main.ts': ['domain', 'engine.ts', 'cli.ts'],
  tokens: ['domain', 'upstream', 'chain', 'node:util'],
  'chain/instructions': ['domain', 'chain', '@noble/hashes'],
  chain: [
    'chain/error-tables',
    'domain',
    'chain/instructions',
    '@noble/curves',
    '@noble/hashes',
    '@solana/web3.js',
    'bs58',
  ],
  'pipeline/watch': ['domain', 'upstream', 'tokens', 'chain'],
  prices: ['domain', 'upstream', 'chain', 'zod'],
  routes: ['domain', 'cache', 'receipt', 'upstream', 'tokens', 'chain', 'prices', 'bs58', 'secure-json-parse', 'zod'],
  client: ['domain', 'receipt', 'system-clock.ts', 'routes'],
  http: [
    'domain',
    'page',
    'access',
    'cache',
    'receipt',
    'routes',
    'msgpackr',
    'uWebSockets.js',
    'node:crypto',
    'node:http',
    'node:zlib',
  ],
  'gateway.ts': [
    'domain',
    'first-of-kind.ts',
    'opened.ts',
    'package.ts',
    'page',
    'access',
    'cache',
    'receipt',
    'system-clock.ts',
    'upstream',
    'config.ts',
    'pipeline',
    'log.ts',
    'connect-nodes.ts',
    'pipeline/watch',
    'prices',
    'routes',
    'http',
    'node:crypto',
  ],
  'cli.ts': [
    'domain',
    'package.ts',
    'config',
    'engine.ts',
    'receipt',
    'config.ts',
    'commands',
    'log.ts',
    'start.ts',
    'gateway.ts',
    'commander',
    'uWebSockets.js',
  ],
  'index.ts': ['receipt', 'config.ts', 'client', 'gateway.ts'],
  'cluster/parse': ['domain', 'chain/instructions', 'chain', 'cluster', 'bs58'],
  'cluster/economy': [
    'domain',
    'chain',
    'cluster',
    '@solana-program/compute-budget',
    '@solana-program/system',
    '@solana-program/token',
    '@solana/web3.js',
    'bs58',
  ],
  'cluster/render': ['domain', 'chain', 'cluster/parse', 'cluster', 'bs58'],
  'cluster/methods': ['domain', 'chain', 'cluster/parse', 'cluster/render', 'cluster', 'bs58'],
  cluster: [
    'disk',
    'domain',
    'system-clock.ts',
    'cluster/parse',
    'cluster/economy',
    'cluster/methods',
    'cluster/pubsub',
    '@solana-program/compute-budget',
    '@solana-program/system',
    '@solana/web3.js',
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
  'cluster/pubsub': ['domain', 'cluster/parse', 'cluster/render', 'cluster/methods', 'cluster'],
};

const src = new URL('../../src/', import.meta.url); // from dist/test to src
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort();

/** Lists what a file imports, types included: files of src as paths, packages by name. */
function importsOf(file: string): string[] {
  const code = readFileSync(new URL(file, src), 'utf8');
  return [...code.matchAll(/\b(?:from |import |import\()'([^']+)'/g)].map(([, specifier = '']) =>
    specifier.startsWith('.')
      ? join(dirname(file), specifier)
      : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'),
  );
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** Names the row of the table that a file belongs to: its folder, or the file itself at the top of src. */
const rowOf = (file: string): string => (dirname(file) === '.' ? file : dirname(file));

const isFile = (target: string): boolean => target.endsWith('.ts');

t.test('each folder and loose file is in the table', async (t) => {
  t.strictSame(Object.keys(MAY_IMPORT).sort(), [...new Set(files.map(rowOf))].sort());
});

for (const [row, allowed] of Object.entries(MAY_IMPORT)) {
  t.test(`src/${row} imports what it may, and no more is allowed than that`, async (t) => {
    const unused = new Set(allowed);
    for (const file of files.filter((file) => rowOf(file) === row)) {
      for (const target of imports.get(file) ?? []) {
        const imported = isFile(target) ? rowOf(target) : target;
        unused.delete(imported);
        t.ok(imported === row || allowed.includes(imported), `${file} -> ${target}`);
      }
    }
    t.strictSame([...unused], []);
  });
}

t.test('no files import each other in a circle, not even for types', async (t) => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) t.fail([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    for (const target of imports.get(file) ?? []) if (isFile(target)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  t.equal(done.size, files.length);
});
