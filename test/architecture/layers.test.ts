import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import t from 'tap';

/**
 * The architecture: what each folder of src, and each loose file at its top, imports. What is not listed is forbidden, and
 * what is listed is needed. A row imports only from rows above it, so imports go one way and no circle can close.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  page: ['node:crypto', 'node:fs', 'node:util', 'node:zlib'],
  'runtime/files': ['node:crypto', 'node:fs', 'node:net', 'node:os', 'node:path'],
  'solana/codec': [],
  cache: ['domain'],
  'http/engine': ['domain', 'uWebSockets.js'],
  receipts: ['domain', 'bs58', 'node:crypto'],
  runtime: ['domain', 'pino', 'pino-pretty', 'node:events', 'node:fs', 'node:net', 'node:worker_threads'],
  'solana/accounts': ['domain', 'solana/codec', '@noble/curves', '@noble/hashes', 'bs58'],
  'solana/errors': ['domain'],
  'upstream/json': ['domain', 'node:buffer'],
  'access/stake': ['domain', 'runtime', 'bs58', 'lru-cache'],
  'access/usage': ['domain', 'runtime/files', 'runtime', 'node:fs', 'node:path', 'node:zlib'],
  config: ['domain', 'runtime', 'zod', 'node:fs', 'node:path', 'node:url'],
  upstream: ['domain', 'config'],
  'localnet/bank': ['domain', 'solana/accounts', '@solana/web3.js', 'bs58', 'litesvm', 'node:crypto'],
  'receipts/verify': ['domain', 'receipts', '@noble/curves', '@noble/hashes', 'bs58', 'node:crypto'],
  'solana/programs': ['domain', 'solana/codec'],
  'solana/programs/generation': ['solana/programs', 'node:crypto', 'node:fs'],
  'solana/transactions': ['domain', 'solana/codec', 'solana/accounts', '@noble/hashes', '@solana/web3.js', 'bs58'],
  'upstream/failsafe': ['domain', 'runtime', 'upstream'],
  'access/limits': ['domain', 'runtime', 'config', 'ipaddr.js'],
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
    'node:v8',
  ],
  'cli/terminal': ['domain', 'node:util'],
  'page/docs': ['domain', 'node:fs'],
  'page/verify': ['domain', 'receipts', 'receipts/verify'],
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
  'solana/analysis': [
    'domain',
    'solana/codec',
    'solana/accounts',
    'solana/errors',
    'solana/programs',
    'solana/transactions',
  ],
  'solana/analysis/rules': ['domain', 'solana/codec', 'solana/accounts', 'solana/programs', 'solana/analysis'],
  'upstream/rpc': ['domain', 'upstream', 'upstream/json', 'upstream/failsafe', 'undici', 'node:diagnostics_channel'],
  'access/api-keys': [
    'domain',
    'runtime/files',
    'runtime',
    'access/limits',
    'zod',
    'node:crypto',
    'node:fs',
    'node:path',
    'node:timers',
    'node:zlib',
  ],
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
    'solana/codec',
    'solana/accounts',
    'solana/errors',
    'solana/programs',
    'solana/transactions',
    'solana/analysis',
    'solana/analysis/rules',
  ],
  'upstream/pubsub': [
    'domain',
    'runtime',
    'upstream',
    'upstream/json',
    'upstream/failsafe',
    'upstream/rpc',
    'lru-cache',
    'ws',
  ],
  access: ['domain', 'access/stake', 'access/usage', 'config', 'access/limits', 'access/api-keys'],
  'localnet/control': ['domain', 'localnet/bank', 'localnet/rpc', 'node:worker_threads'],
  'localnet/pubsub': ['domain', 'localnet/bank', 'localnet/encode', 'localnet/rpc'],
  'upstream/mesh': [
    'domain',
    'runtime',
    'upstream',
    'upstream/json',
    'upstream/failsafe',
    'upstream/rpc',
    'upstream/pubsub',
  ],
  live: ['domain', 'upstream/pubsub', 'upstream/mesh', 'config', 'lru-cache'],
  localnet: [
    'domain',
    'runtime/files',
    'runtime',
    'localnet/bank',
    'localnet/traffic',
    'localnet/rpc',
    'localnet/control',
    'localnet/encode',
    'localnet/pubsub',
    'bs58',
    'ws',
    'node:crypto',
    'node:events',
    'node:http',
    'node:worker_threads',
  ],
  serving: ['domain', 'cache', 'receipts', 'upstream/rpc', 'upstream/mesh', 'node:crypto'],
  'upstream/reads': [
    'domain',
    'runtime',
    'solana/programs',
    'upstream/json',
    'upstream/failsafe',
    'upstream/rpc',
    'upstream/mesh',
    'lru-cache',
  ],
  'live/accounts': ['domain', 'upstream/json', 'upstream/pubsub', 'upstream/rpc', 'live', 'upstream/reads', 'config'],
  pipeline: ['domain', 'cache', 'upstream/mesh', 'upstream/reads', 'rxjs'],
  prices: [
    'domain',
    'solana/codec',
    'runtime',
    'solana/accounts',
    'upstream/json',
    'config',
    'upstream/reads',
    'lru-cache',
    'undici',
  ],
  tokens: [
    'domain',
    'runtime',
    'solana/accounts',
    'upstream/rpc',
    'upstream/mesh',
    'upstream/reads',
    'prices',
    'lru-cache',
    'node:util',
  ],
  wiring: [
    'domain',
    'runtime/files',
    'runtime',
    'config',
    'upstream/pubsub',
    'upstream/mesh',
    'localnet',
    'node:crypto',
    'node:fs',
    'node:path',
  ],
  'live/token-lists': [
    'upstream/rpc',
    'domain',
    'solana/accounts',
    'upstream/pubsub',
    'upstream/mesh',
    'live',
    'upstream/reads',
    'tokens',
    'config',
  ],
  routing: [
    'domain',
    'runtime',
    'solana/codec',
    'cache',
    'solana/accounts',
    'receipts/keys',
    'solana/analysis',
    'upstream/rpc',
    'upstream/mesh',
    'serving',
    'upstream/reads',
    'prices',
    'tokens',
    'lru-cache',
    'secure-json-parse',
    'zod',
  ],
  'routes/history': [
    'domain',
    'solana/transactions',
    'solana/analysis',
    'upstream/json',
    'upstream/reads',
    'tokens',
    'routing',
    'zod',
  ],
  'routes/scans': ['domain', 'lru-cache'],
  'routes/holders': [
    'domain',
    'cache',
    'runtime',
    'solana/codec',
    'solana/accounts',
    'upstream/mesh',
    'upstream/reads',
    'tokens',
    'routing',
    'routes/scans',
    'bs58',
    'zod',
  ],
  'routes/portfolio': [
    'domain',
    'cache',
    'runtime',
    'solana/accounts',
    'upstream/mesh',
    'upstream/reads',
    'prices',
    'tokens',
    'routing',
    'routes/scans',
    'lru-cache',
    'zod',
  ],
  'routes/rpc': ['domain', 'cache', 'upstream/json', 'upstream/rpc', 'upstream/mesh', 'serving', 'routing', 'zod'],
  'routes/search': [
    'domain',
    'solana/accounts',
    'solana/programs',
    'upstream/rpc',
    'upstream/mesh',
    'upstream/reads',
    'tokens',
    'routing',
    'bs58',
    'zod',
  ],
  'routes/block': [
    'domain',
    'cache',
    'solana/codec',
    'solana/programs',
    'upstream/json',
    'upstream/reads',
    'routing',
    'lru-cache',
    'zod',
  ],
  'routes/tx': ['domain', 'solana/programs', 'solana/analysis', 'solana/explain', 'upstream/reads', 'routing', 'zod'],
  'routes/decoding': [
    'domain',
    'runtime',
    'solana/codec',
    'solana/accounts',
    'solana/transactions',
    'solana/analysis',
    'solana/explain',
    'routing',
    'routes/block',
    'routes/tx',
  ],
  routes: [
    'domain',
    'solana/accounts',
    'receipts/keys',
    'upstream/mesh',
    'upstream/reads',
    'tokens',
    'routing',
    'routes/block',
    'routes/history',
    'routes/holders',
    'routes/portfolio',
    'routes/rpc',
    'routes/search',
    'routes/tx',
    'zod',
  ],
  client: ['domain', 'receipts', 'runtime', 'receipts/verify', 'receipts/keys', 'routing', 'routes'],
  'client/package': ['routing', 'routes', 'zod', 'node:fs', 'node:path', 'node:url'],
  'cli/doctor': [
    'domain',
    'runtime',
    'config',
    'upstream',
    'upstream/rpc',
    'receipts/keys',
    'access/api-keys',
    'undici',
    'ws',
    'node:fs',
    'node:os',
    'node:path',
  ],
  'cli/commands': [
    'cli/terminal',
    'cli/doctor',
    'domain',
    'receipts',
    'runtime',
    'access/stake',
    'access/usage',
    'config',
    'receipts/verify',
    'receipts/keys',
    'access/api-keys',
    'routes',
    'client',
    'bs58',
    'commander',
    'ws',
    'node:crypto',
    'node:fs',
    'node:path',
    'node:util',
  ],
  'http/rest': [
    'domain',
    'page',
    'cache',
    'http/engine',
    'receipts',
    'access/usage',
    'access/limits',
    'access',
    'serving',
    'routing',
    'routes',
    'uWebSockets.js',
    'node:crypto',
    'node:diagnostics_channel',
    'node:http',
    'node:zlib',
  ],
  'http/stream': [
    'domain',
    'cache',
    'http/engine',
    'receipts',
    'runtime',
    'access/limits',
    'access',
    'serving',
    'routing',
    'routes',
    'http/rest',
    'msgpackr',
    'uWebSockets.js',
  ],
  http: ['domain', 'cache', 'http/engine', 'http/rest', 'http/stream', 'uWebSockets.js'],
  admin: [
    'domain',
    'receipts',
    'runtime',
    'access/usage',
    'config',
    'access',
    'upstream/mesh',
    'live',
    'serving',
    'routing',
    'routes',
    'http',
    'prom-client',
    'node:events',
    'node:fs',
    'node:http',
    'node:net',
    'node:perf_hooks',
    'node:process',
  ],
  'gateway.ts': [
    'domain',
    'page',
    'cache',
    'receipts',
    'runtime',
    'config',
    'receipts/verify',
    'receipts/keys',
    'access',
    'serving',
    'upstream/mesh',
    'upstream/reads',
    'live',
    'live/accounts',
    'pipeline',
    'prices',
    'tokens',
    'wiring',
    'live/token-lists',
    'routing',
    'routes/block',
    'routes/decoding',
    'routes/holders',
    'routes/portfolio',
    'routes/scans',
    'routes/rpc',
    'routes',
    'http/rest',
    'http',
    'admin',
    'node:crypto',
  ],
  cli: [
    'cli/terminal',
    'domain',
    'runtime',
    'config',
    'upstream/mesh',
    'receipts/keys',
    'wiring',
    'cli/commands',
    'gateway.ts',
    'commander',
    'uWebSockets.js',
    'node:util',
  ],
  'index.ts': ['config', 'receipts/verify', 'client', 'gateway.ts'],
  'main.ts': ['domain', 'cli'],
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
    const forbidden: string[] = [];
    for (const file of files.filter((file) => rowOf(file) === row)) {
      for (const target of imports.get(file) ?? []) {
        const imported = isFile(target) ? rowOf(target) : target;
        unused.delete(imported);
        if (imported !== row && !allowed.includes(imported)) forbidden.push(`${file} -> ${target}`);
      }
    }
    t.strictSame({ forbidden, unused: [...unused] }, { forbidden: [], unused: [] });
  });
}

t.test('a row imports only from rows above it', async (t) => {
  const above = new Set<string>();
  const upwards: string[] = [];
  for (const [row, allowed] of Object.entries(MAY_IMPORT)) {
    for (const imported of allowed)
      if (imported in MAY_IMPORT && !above.has(imported)) upwards.push(`${row} -> ${imported}`);
    above.add(row);
  }
  t.strictSame(upwards, []);
});

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
