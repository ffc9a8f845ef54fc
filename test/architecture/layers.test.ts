import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import t from 'tap';

/**
 * The architecture: what each folder of src, and each loose file at its top, imports. What is not listed is forbidden, and
 * what is listed is needed.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  page: ['node:crypto', 'node:fs', 'node:util', 'node:zlib'],
  'runtime/files': ['node:crypto', 'node:fs', 'node:net', 'node:os', 'node:path'],
  'solana/codec': ['bs58'],
  'access/limits': ['domain', 'ipaddr.js'],
  'access/stake': ['domain', 'bs58'],
  'access/usage': ['domain', 'runtime/files', 'node:fs', 'node:path', 'node:zlib'],
  cache: ['domain', 'lru-cache'],
  'solana/accounts': ['domain', 'solana/codec', '@noble/curves', '@noble/hashes', 'bs58'],
  'solana/errors': ['domain'],
  upstream: ['domain'],
  'upstream/json': ['domain'],
  'access/api-keys': [
    'domain',
    'runtime/files',
    'access/limits',
    'node:crypto',
    'node:fs',
    'node:path',
    'node:timers',
    'node:zlib',
  ],
  'localnet/bank': ['domain', 'solana/accounts', '@solana/web3.js', 'bs58', 'litesvm', 'node:crypto'],
  'solana/transactions': ['domain', 'solana/codec', 'solana/accounts', '@noble/hashes', '@solana/web3.js', 'bs58'],
  'upstream/failsafe': ['domain', 'upstream'],
  access: ['domain', 'access/limits', 'access/stake', 'access/usage', 'access/api-keys'],
  'localnet/encode': ['domain', 'solana/codec', 'solana/accounts', 'localnet/bank', 'solana/transactions', 'bs58'],
  'localnet/traffic': [
    'domain',
    'solana/accounts',
    'localnet/bank',
    '@solana-program/compute-budget',
    '@solana-program/system',
    '@solana-program/token',
    '@solana/web3.js',
    'bs58',
    'node:crypto',
  ],
  'solana/analysis': [
    'domain',
    'solana/codec',
    'solana/accounts',
    'solana/errors',
    'solana/transactions',
    '@noble/hashes',
    'bs58',
  ],
  'upstream/rpc': ['domain', 'upstream', 'upstream/json', 'upstream/failsafe', 'undici'],
  'localnet/rpc': [
    'domain',
    'solana/accounts',
    'localnet/bank',
    'localnet/encode',
    'localnet/traffic',
    'bs58',
    'node:http',
  ],
  'solana/explain': [
    'domain',
    'solana/codec',
    'solana/accounts',
    'solana/errors',
    'solana/transactions',
    'solana/analysis',
  ],
  'upstream/pubsub': ['domain', 'upstream', 'upstream/json', 'upstream/failsafe', 'upstream/rpc', 'ws'],
  'localnet/pubsub': ['domain', 'localnet/bank', 'localnet/encode', 'localnet/rpc'],
  'upstream/mesh': ['domain', 'upstream', 'upstream/json', 'upstream/failsafe', 'upstream/rpc', 'upstream/pubsub'],
  live: ['domain', 'upstream/pubsub', 'upstream/mesh'],
  'upstream/reads': ['domain', 'upstream/json', 'upstream/rpc', 'upstream/mesh'],
  'live/accounts': ['domain', 'upstream/json', 'live', 'upstream/reads'],
  pipeline: ['domain', 'cache', 'upstream/mesh', 'upstream/reads', 'rxjs'],
  prices: ['domain', 'solana/accounts', 'upstream/mesh', 'upstream/reads', 'undici', 'zod'],
  'live/token-lists': [
    'domain',
    'solana/accounts',
    'upstream/pubsub',
    'upstream/mesh',
    'live',
    'upstream/reads',
    'tokens',
  ],
  'routes/search': [
    'domain',
    'solana/accounts',
    'upstream/rpc',
    'upstream/mesh',
    'upstream/reads',
    'routing',
    'bs58',
    'zod',
  ],
  config: ['domain', 'runtime', 'zod', 'node:fs', 'node:path', 'node:url'],
  runtime: ['domain', 'config', 'pino', 'pino-pretty', 'node:fs'],
  tokens: ['domain', 'solana/accounts', 'upstream/mesh', 'upstream/reads', 'runtime', 'node:util'],
  wiring: ['domain', 'upstream/mesh', 'config', 'runtime', 'localnet'],
  'routes/tx': ['domain', 'solana/transactions', 'solana/explain', 'upstream/reads', 'routing', 'zod'],
  localnet: [
    'domain',
    'runtime/files',
    'localnet/bank',
    'localnet/traffic',
    'localnet/rpc',
    'localnet/pubsub',
    'runtime',
    'localnet/control',
    'bs58',
    'ws',
    'node:crypto',
    'node:events',
    'node:fs',
    'node:http',
    'node:path',
    'node:worker_threads',
  ],
  'localnet/control': ['domain', 'localnet/bank', 'localnet/rpc', 'localnet', 'node:worker_threads'],
  'main.ts': ['domain', 'cli'],
  'http/engine': ['domain', 'http/rest', 'uWebSockets.js'],
  receipts: ['domain', 'receipts/keys', 'bs58', 'node:crypto'],
  'receipts/verify': ['domain', 'receipts', '@noble/curves', '@noble/hashes', 'bs58', 'node:crypto'],
  'page/verify': ['receipts', 'receipts/verify'],
  'receipts/keys': [
    'domain',
    'runtime/files',
    'receipts',
    'receipts/verify',
    '@noble/hashes',
    'bs58',
    'node:crypto',
    'node:fs',
    'node:path',
  ],
  'cli/commands': [
    'domain',
    'access/stake',
    'access/usage',
    'access/api-keys',
    'config',
    'runtime',
    'receipts',
    'receipts/verify',
    'receipts/keys',
    'bs58',
    'commander',
    'node:crypto',
    'node:fs',
  ],
  serving: ['domain', 'cache', 'upstream/rpc', 'receipts', 'routing'],
  'http/rest': [
    'domain',
    'page',
    'access/limits',
    'access/usage',
    'cache',
    'access',
    'http/engine',
    'receipts',
    'serving',
    'routing',
    'uWebSockets.js',
    'node:crypto',
    'node:http',
    'node:zlib',
  ],
  'routes/rpc': ['domain', 'cache', 'upstream/json', 'upstream/rpc', 'upstream/mesh', 'serving', 'routing', 'zod'],
  http: ['domain', 'cache', 'http/rest', 'http/stream', 'uWebSockets.js'],
  cli: ['domain', 'config', 'runtime', 'receipts/keys', 'cli/commands', 'gateway.ts', 'commander', 'uWebSockets.js'],
  client: ['domain', 'runtime', 'receipts', 'receipts/verify', 'receipts/keys', 'routes', 'routing'],
  'index.ts': ['config', 'receipts/verify', 'client', 'gateway.ts'],
  routes: [
    'domain',
    'solana/accounts',
    'solana/transactions',
    'solana/analysis',
    'solana/explain',
    'upstream/mesh',
    'upstream/reads',
    'prices',
    'routes/search',
    'runtime',
    'tokens',
    'routes/tx',
    'receipts/keys',
    'serving',
    'routes/rpc',
    'routes/holders',
    'routing',
    'zod',
  ],
  'routes/holders': [
    'domain',
    'cache',
    'solana/accounts',
    'upstream/mesh',
    'upstream/reads',
    'runtime',
    'routes',
    'routing',
    'bs58',
    'zod',
  ],
  routing: [
    'domain',
    'cache',
    'upstream/mesh',
    'upstream/reads',
    'prices',
    'tokens',
    'receipts/keys',
    'routes',
    'routes/holders',
    'bs58',
    'secure-json-parse',
    'zod',
  ],
  'gateway.ts': [
    'domain',
    'page',
    'cache',
    'access',
    'upstream/reads',
    'live/accounts',
    'pipeline',
    'prices',
    'live/token-lists',
    'config',
    'runtime',
    'wiring',
    'receipts',
    'receipts/verify',
    'receipts/keys',
    'serving',
    'http/rest',
    'http',
    'routes',
    'routes/holders',
    'routing',
    'node:crypto',
  ],
  'http/stream': [
    'domain',
    'access/limits',
    'cache',
    'access',
    'http/engine',
    'receipts',
    'serving',
    'http/rest',
    'routes',
    'routing',
    'msgpackr',
    'uWebSockets.js',
  ],
};

const src = new URL('../../../src/', import.meta.url); // from dist/test/architecture to src
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
