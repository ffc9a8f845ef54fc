import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import t from 'tap';

t.test('layers', async (t) => {
  /**
   * The folders of src, from the bottom to the top. A folder imports only from folders of earlier lines, so imports go one way
   * and no circle can close.
   */
  const LAYERS = `
  shared/domain
  shared/runtime/files
  shared/runtime
  shared/site
  config
  client/verify

  transactions/codec
  transactions/accounts
  transactions/programs
  transactions/records
  transactions/errors
  transactions/analysis
  transactions/analysis/rules
  transactions/explain
  transactions

  localnet/bank
  localnet/encode               localnet/traffic
  localnet/rpc                  localnet/geyser
  localnet/pubsub
  localnet

  gateway/access/quota          gateway/access/stake          gateway/access/usage
  gateway/access/limits
  gateway/access/api-keys
  gateway/access
  gateway/cache                 gateway/network-history
  gateway/receipts
  gateway/receipts/keys
  gateway/upstream/json
  gateway/upstream
  gateway/upstream/failsafe
  gateway/upstream/rpc          gateway/upstream/geyser
  gateway/upstream/pubsub
  gateway/upstream/mesh
  gateway/upstream/reads
  gateway/serving               gateway/prices                gateway/live/feed
  gateway/tokens                gateway/live
  gateway/live/accounts         gateway/live/logs             gateway/live/token-lists      gateway/pipeline
  gateway/routes/scans
  gateway/routes/routing
  gateway/routes/block          gateway/routes/history        gateway/routes/portfolio
  gateway/routes/rpc            gateway/routes/search         gateway/routes/tx
  gateway/routes/decoding       gateway/routes
  gateway/http/engine
  gateway/http/engine/node      gateway/http/engine/uws
  gateway/http/rest
  gateway/http/events
  gateway/http/stream
  gateway/http/pubsub
  gateway/http
  gateway/fleet                 gateway/fleet/transport/shared-log
  gateway/fleet/replication     gateway/fleet/transport/redis
  gateway/fleet/keys            gateway/fleet/leadership      gateway/fleet/usage
  gateway/fleet/counters
  gateway/fleet/redis
  gateway/admin
  gateway/fleet/rpc             gateway/fleet/supervisor
  gateway/fleet/workers
  gateway/composition
  gateway
  gateway/client-package

  client

  pages/format                  pages/plot
  pages/live
  pages
  pages/feed
  pages/browser                 pages/widget
  pages/docs                    pages/embed                   pages/explorer            pages/status              pages/verify
  pages/build

  cli/terminal                  cli/doctor
  cli/commands
  cli
  .
`;

  /** The modules by which a package is imported from outside: its functions, and what two of them have beside these. */
  const ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
    transactions: ['transactions/index.ts'],
    localnet: ['localnet/index.ts'],
    gateway: ['gateway/index.ts', 'gateway/routes/index.ts'],
    client: ['client/index.ts', 'client/verify/index.ts'],
    pages: ['pages/index.ts'],
  };

  /** The one folder, with those below it, that imports a package. */
  const ONLY_IN: Readonly<Record<string, string>> = {
    '@redis/client': 'gateway/fleet/transport/redis',
    commander: 'cli',
    litesvm: 'localnet',
    pino: 'shared/runtime',
    'prom-client': 'gateway/admin',
    rxjs: 'gateway/pipeline',
    'uWebSockets.js': 'gateway/http',
    'uws-pack': 'gateway/http',
    uplot: 'pages/browser',
  };

  /** Folders that also run in browsers, or in a program without files and network, or that are free of both by design. */
  const WITHOUT_NODE = [
    'shared/domain',
    'client',
    'transactions/accounts',
    'transactions/analysis',
    'transactions/codec',
    'transactions/explain',
    'transactions/records',
    'gateway/cache',
    'gateway/pipeline',
    'pages/feed',
    'pages/live',
  ];

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
  const edges = [...imports].flatMap(([file, targets]) => targets.map((target) => [file, target] as const));
  const layerOf = new Map(
    LAYERS.split('\n').flatMap((line, layer) => line.split(/\s+/).map((folder) => [folder, layer] as const)),
  );

  const isFile = (target: string): boolean => target.endsWith('.ts');
  const isBelow = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);
  const packageOf = (file: string): string => file.split('/')[0] ?? '';
  const written = (found: readonly (readonly [string, string])[]): string[] => found.map((edge) => edge.join(' -> '));

  t.test('each folder has a layer, and each layer a folder', async (t) => {
    t.strictSame([...layerOf.keys()].filter((folder) => folder !== '').sort(), [...new Set(files.map(dirname))].sort());
  });

  t.test('a folder imports only from folders of lower layers', async (t) => {
    const layer = (file: string): number => layerOf.get(dirname(file)) ?? Number.NaN;
    const upwards = edges.filter(
      ([file, target]) => isFile(target) && dirname(file) !== dirname(target) && !(layer(target) < layer(file)),
    );
    t.strictSame(written(upwards), []);
  });

  t.test('a package is imported by its entry points only', async (t) => {
    const inside = edges.filter(([file, target]) => {
      const entries = ENTRY_POINTS[packageOf(target)];
      return (
        isFile(target) && entries !== undefined && packageOf(file) !== packageOf(target) && !entries.includes(target)
      );
    });
    t.strictSame(written(inside), []);
  });

  t.test('a package of npm that one folder is about is imported there only', async (t) => {
    const elsewhere = edges.filter(([file, target]) => target in ONLY_IN && !isBelow(file, ONLY_IN[target] ?? ''));
    t.strictSame(written(elsewhere), []);
  });

  t.test('what runs without Node imports nothing of it', async (t) => {
    const ofNode = edges.filter(
      ([file, target]) => target.startsWith('node:') && WITHOUT_NODE.some((folder) => isBelow(file, folder)),
    );
    t.strictSame(written(ofNode), []);
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
});

t.test('browser-portability', async (t) => {
  const PORTABLE = /^(@noble\/(curves|hashes)\/|bs58$)/;
  const NODE_ONLY = /\b(?:Buffer|process|global)\b\s*[.[]|\brequire\(/;

  /** Returns everything that is loaded with a module, packages included. */
  function reachedFrom(file: URL, seen = new Set<string>()): Set<string> {
    if (seen.has(file.href)) return seen;
    seen.add(file.href);
    const code = readFileSync(file, 'utf8');
    for (const [, specifier = ''] of code.matchAll(/(?:\bfrom |^import |\bimport\()'([^']+)'/gm)) {
      if (specifier.startsWith('.')) reachedFrom(new URL(specifier, file), seen);
      else seen.add(specifier);
    }
    return seen;
  }

  for (const [what, module, files] of [
    ['the verifier', 'client/verify/verify-receipt.js', 5],
    ['the client', 'client/client.js', 25],
  ] as const) {
    t.test(`${what} imports nothing that a browser does not have`, async (t) => {
      const src = new URL('../../src/', import.meta.url);
      const reached = [...reachedFrom(new URL(module, src))];
      const packages = reached.filter((specifier) => !specifier.startsWith('file:'));
      const own = reached.filter((specifier) => specifier.startsWith('file:'));
      t.ok(packages.length >= 3 && own.length > files, 'the walk works');
      const unportable = packages.filter((specifier) => !PORTABLE.test(specifier));
      t.same(unportable, []);
      const ofServer = own.filter((file) => /^(gateway|transactions)\//.test(file.slice(src.href.length)));
      t.same(ofServer, [], 'of the server it imports only types');
      for (const file of own) t.notMatch(readFileSync(new URL(file), 'utf8'), NODE_ONLY, file);
    });
  }
});

t.test('route-uses', async (t) => {
  const ROUTES = new URL('../../../src/gateway/routes/', import.meta.url); // from dist/test/architecture

  /** Matches a route's function with a context that it does not declare in the form of `Uses<…>`. */
  const UNDECLARED = /\b(?:resolve|answer|valueOf)\((?:\{[^}]*\}|\w+), (?:\{[^}]*\}|context)[,)]/;

  const files = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && name !== 'index.ts' && !name.startsWith('routing/'),
  );

  t.test('each route declares which parts of the context it uses', async (t) => {
    t.match('  answer({ kid }, { keys }) {', UNDECLARED);
    t.match('  async resolve({ a, b }, context, { minSlot }) {', UNDECLARED);
    t.notMatch("  resolve({ a }, { mesh }: Uses<'mesh'>, { minSlot }) {", UNDECLARED);
    for (const file of files) {
      const code = readFileSync(new URL(file, ROUTES), 'utf8').replace(/\s+/g, ' ');
      t.notMatch(code, UNDECLARED, file);
      t.notMatch(code, /\bRouteContext\b/, `${file} does not use all of it`);
    }
  });
});

t.test('values-of-one-node', async (t) => {
  const GATEWAY = new URL('../../../src/gateway/', import.meta.url); // from dist/test/architecture
  const read = (name: string): string => readFileSync(new URL(name, GATEWAY), 'utf8');

  /** Caches without a value of a node, or with values that are not served. */
  const OTHERS: ReadonlySet<string> = new Set([
    'access/quota/counter-member.ts',
    'access/stake/stake-proof.ts',
    'fleet/counters/redis-store.ts',
    'http/rest/site-response.ts', // pages of the build
    'http/events/event-sealer.ts',
    'http/events/feed-replays.ts', // cleared by the log of events
    'live/hot-key-detector.ts',
    'prices/jupiter-verified-mints.ts', // of a service
    'tokens/metadata-addresses.ts', // computed
    'upstream/pubsub/slot-ancestry.ts', // of one session, which ends
    'upstream/reads/account-batcher.ts', // which accounts are read apart
  ]);

  t.test('each cache of what nodes gave can be cleared, and is when one of them has lied', async (t) => {
    const caches = readdirSync(GATEWAY, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && read(name).includes('new LRUCache'))
      .filter((name) => !OTHERS.has(name));
    t.ok(caches.length > 8);
    /** What keeps values of nodes in another form. */
    const others = [
      'access/stake/stake-balances.ts',
      'http/events/event-log.ts',
      'live/feed/recent-blocks.ts',
      'live/feed/version-ring.ts',
      'network-history/network-history.ts',
    ];
    const composed = read('composition/open-live.ts') + read('composition/open-answers.ts');
    const dropped = /onContradicted\(.*?\n {2}}\);/s.exec(composed)?.[0] ?? '';
    const cleared = `${/const ofOneNode: .*?\n {2}\];/s.exec(composed)?.[0]} ${dropped}`;
    for (const name of [...caches, ...others]) {
      t.match(read(name), /\b(clear|dropUnagreed)(\(\): void|: \(\) =>)|new SharedReads\(/, name);
      const [, type = 'pricing'] = /export (?:class |const create)(\w+)/.exec(read(name)) ?? [];
      const opened = [...composed.matchAll(new RegExp(`const (\\w+) = (?:new |create)${type}\\(`, 'g'))].map(
        ([, name]) => name,
      );
      const ofAccess = `${type[0]?.toLowerCase()}${type.slice(1)}`;
      for (const variable of opened.length > 0 ? opened : [name.startsWith('access/') ? ofAccess : type])
        t.match(cleared, variable, name);
    }
  });
});

t.test('map', async (t) => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const map = readFileSync('src/README.md', 'utf8');

  t.test('each file that the map of the code names exists', async (t) => {
    const named = [...map.matchAll(/[\w./-]*[\w-]+\.ts\b/g)]
      .map(([name]) => name)
      .filter((name) => !name.startsWith('catalogue/') && !name.startsWith('validator/') && !name.startsWith('test/'));
    t.ok(named.length > 150);
    const missing = named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)));
    t.same(missing, []);
  });
});
