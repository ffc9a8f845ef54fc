import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { valueAt } from '../../src/config/config-layers.ts';
import type { Config } from '../../src/config/config-schema.ts';
import type { ConfigFlags } from '../../src/config/config-sources.ts';
import { describeFormerSettings, isChosen, loadConfig } from '../../src/config/load-config.ts';
import { operatorsIn } from '../../src/config/operators.ts';
import { formatConfig, formatConfigSchema } from '../../src/config/print-config.ts';
import { redactUrl } from '../../src/config/redact-url.ts';
import { readFleetSettings, readRedisSettings } from '../../src/config/redis-settings.ts';
import { findFormerSetting } from '../../src/config/renamed-settings.ts';
import { extractSecrets, readJupiterKey, readRedisPassword } from '../../src/config/secret-variables.ts';
import { findServiceLinks } from '../../src/config/service-links.ts';
import { SETTINGS } from '../../src/config/setting-names.ts';
import { rereadConfig, withFixedSettings } from '../../src/gateway/composition/reread-config.ts';
import { rereadOnDisk } from '../../src/gateway/composition/reread-on-disk.ts';
import { readChapters } from '../../src/pages/docs/chapters.ts';
import { StartError } from '../../src/shared/domain/start-error.ts';
import { packageFile } from '../../src/shared/runtime/package.ts';
import { pluck } from '../support/pluck.ts';
import { readTable } from '../support/read-table.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

t.test('config-schema', async (t) => {
  const defaults = JSON.parse(readFileSync(packageFile('config/default.json'), 'utf8'));
  const cwd = t.testdir({
    'empty.json': '{}',
    'marked.json': '\ufeff{ "port": 7 }',
    'broken.json': '{ "upstreams": ["https://rpc.example/v2/KEY" }',
    'list.json': '[]',
  });

  const load = (flags: ConfigFlags = {}, env: Record<string, string> = {}): Config => loadConfig({ flags, env, cwd });

  /** Returns the message to the operator and its exit code. */
  function refusal(flags: ConfigFlags, env: Record<string, string> = {}): { exitCode: number; message: string } {
    try {
      load(flags, env);
    } catch (thrown) {
      if (thrown instanceof StartError) return { exitCode: thrown.exitCode, message: thrown.message };
      throw thrown;
    }
    return { exitCode: 0, message: '' };
  }

  /** Writes a configuration file and returns its path. */
  function file(values: unknown): string {
    const path = join(cwd, 'overlay.json');
    writeFileSync(path, JSON.stringify(values));
    return path;
  }

  const at = (values: unknown, path: readonly string[]): unknown =>
    path.reduce((value, key) => Object(value)[key], values);

  /** Returns three values of a setting other than its default; of a switch there is only one. */
  function others(name: string, value: unknown): readonly [unknown, unknown, unknown] {
    if (name === 'live.callerShare') return [0, 1, 0.5];
    if (name === 'receipts.agree') return [1, 2, 3];
    if (name === 'receipts.sampleRate') return [0, 1, 0.5];
    if (typeof value === 'boolean') return [!value, value, !value];
    if (typeof value === 'number') return [value + 1, value + 2, value + 3];
    if (name === 'host' || name === 'admin.host') return ['::1', '0.0.0.0', 'gateway.example'];
    if (name === 'embedded.port') return [0, null, 65_534];
    if (name === 'embedded.geyserPort') return [0, null, 65_535];
    if (name === 'cluster') return ['1'.repeat(32), null, '2'.repeat(44)];
    if (name === 'upstreams') return [['http://a:1/'], [], ['http://b:1/', 'https://c/']];
    if (name === 'stake.mint') return [MINT, null, '1'.repeat(32)];
    if (name === 'stake.host') return ['a.example', null, 'localhost:1'];
    if (name === 'stake.unitBalance') return ['1', '2', '18446744073709551615'];
    if (name === 'hosts') return [['a.example', '[::1]'], [], ['localhost']];
    if (name === 'origins') return [['https://a.example', 'http://localhost:3000'], [], ['https://b.example']];
    if (name === 'trustedProxies') return [['10.0.0.0/8'], [], ['10.1.1.1', 'fd00::/8']];
    if (name === 'upstreamPolicy.subscriptions') return [7, null, 1000];
    if (name === 'live.requestsPerSecond') return [1, null, 1000];
    if (name === 'http.engine') return ['node', 'uws-pack', 'uws'];
    if (name === 'rpc.profile') return ['standard', 'strict', 'standard'];
    if (name === 'log.level') return ['silent', 'warn', 'error'];
    if (name === 'prices.sources') return [['static'], null, ['jupiter-v3', 'pyth-onchain']];
    if (name === 'prices.static') return [{ [MINT]: 1 }, { [MINT]: 0.5 }, { [MINT]: 2 }];
    if (name === 'prices.pyth.feeds')
      return [{ [MINT]: '0'.repeat(64) }, { [MINT]: 'f'.repeat(64) }, { [MINT]: 'a'.repeat(64) }];
    if (name === 'prices.pyth.programs') return [[], [{ receiver: MINT, pushOracle: MINT }], []];
    if (name === 'prices.jupiter.url' || name === 'prices.jupiter.tokensUrl')
      return ['http://a/', 'http://b/', 'https://c/'];
    if (name === 'redis.url') return ['redis://a', 'rediss://me@b:1/2', 'redis://c:6379'];
    if (name === 'tokens.known') return [{ [MINT]: 'A' }, { [MINT]: 'B2' }, { [MINT]: 'c' }];
    return ['/one', '/two', '/three'];
  }

  const MINT = 'So11111111111111111111111111111111111111112';

  const typed = (value: unknown): string => {
    if (Array.isArray(value))
      return value.length > 0 && value.every((item) => typeof item === 'string')
        ? value.join(' ')
        : JSON.stringify(value);
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };

  t.test('config/default.json has a value for every setting', async (t) => {
    for (const { name, path } of SETTINGS) t.not(at(defaults, path), undefined, name);
    t.doesNotThrow(() => load());
  });

  t.test('every setting has a unique name and variable', async (t) => {
    t.equal(new Set(SETTINGS.map(({ name }) => name)).size, SETTINGS.length);
    t.equal(new Set(SETTINGS.map(({ env }) => env)).size, SETTINGS.length);
    t.ok(SETTINGS.some(({ env }) => env === 'SLOTGATE_LIMITS_FREE_WINDOW_SECONDS'));
  });

  for (const { name, path, env } of SETTINGS) {
    t.test(`${name} is set by a file, over that by ${env}, over that by --set`, async (t) => {
      const [inFile, inEnv, inFlag] = others(name, at(defaults, path));
      const config = file(path.reduceRight((inner, key) => ({ [key]: inner }), inFile));
      const variables = { [env]: typed(inEnv) };
      const three = ['upstreams=http://a.example http://b.test http://c.invalid'];
      const neededBy: Readonly<Record<string, string[]>> = {
        'stake.mint': ['stake.host=gateway.example'],
        'receipts.agree': three,
      };
      const needed = neededBy[name] ?? [];
      const loaded = (flags: ConfigFlags, env = {}): unknown => {
        const value = at(load({ ...flags, set: [...needed, ...(flags.set ?? [])] }, env), path);
        return name === 'upstreams' ? (value as Config['upstreams']).map(({ url }) => url) : value;
      };
      t.strictSame(loaded({ config }), inFile);
      t.strictSame(loaded({ config }, variables), inEnv);
      t.strictSame(loaded({ config, set: [`${name}=${typed(inFlag)}`] }, variables), inFlag);
    });
  }

  t.test('--host, --port, --data-dir, --admin-port and --upstream are short for --set and win over it', async (t) => {
    const set = ['host=::1', 'port=1', 'dataDir=/a', 'upstreams=http://a'];
    const config = load({ set, host: '0.0.0.0', port: '0', dataDir: 'b', upstream: ['http://b', 'http://c'] });
    t.match(config, { host: '0.0.0.0', port: 0, dataDir: join(cwd, 'b') });
    t.equal(load({ set: ['admin.port=1'], adminPort: 'null' }).admin.port, null);
    t.strictSame(pluck(config.upstreams, 'url'), ['http://b/', 'http://c/']);
  });

  t.test('an operator is the last two labels of a host, an address, or a port of this machine', async (t) => {
    const operators: readonly (readonly [url: string, operator: string])[] = [
      ['https://mainnet.helius-rpc.com/?api-key=x', 'helius-rpc.com'],
      ['https://a.b.c.example:8899', 'c.example'],
      ['http://validator', 'validator'],
      ['http://10.0.0.7:8899', '10.0.0.7'],
      ['http://[fd00::1]:8899', '[fd00::1]'],
      ['http://127.0.0.1:8899', '127.0.0.1:8899'],
      ['http://127.0.0.1:8900', '127.0.0.1:8900'],
      ['http://localhost:8899', 'localhost:8899'],
      ['http://[::1]:8899', '[::1]:8899'],
    ];
    for (const [url, operator] of operators) t.equal(load({ upstream: [url] }).upstreams[0]?.operator, operator, url);
    const named = [
      { url: 'http://a.example', operator: 'us' },
      { url: 'http://b.test', operator: 'us' },
    ];
    t.equal(operatorsIn(load({ config: file({ upstreams: named }) })), undefined);
    const two = ['https://a.example', 'https://x.a.example', 'https://b.test'];
    t.strictSame(operatorsIn(load({ upstream: two })), { count: 2, needed: 2 });
    t.strictSame(operatorsIn(load({ upstream: two, set: ['receipts.agree=1'] })), { count: 2, needed: 1 });
  });

  t.test('a port that was chosen for callers and operators is refused; one that was not gives way', async (t) => {
    const twice = { exitCode: 78, message: /^admin\.port: expected another port than that for callers, got 9100 \(--/ };
    t.throws(() => load({ set: ['port=9100'], adminPort: '9100' }), twice);
    t.throws(() => load({ port: '9100', set: ['admin.port=9100'] }), twice);
    t.equal(load({ port: '8789' }).admin.port, 8789);
    t.equal(load({ port: '0', adminPort: '0' }).admin.port, 0);
  });

  t.test('a number of operators that the nodes do not have is refused', async (t) => {
    const refusal = (upstream: string[]) => () => load({ upstream, set: ['receipts.agree=3'] });
    const two = {
      exitCode: 78,
      message: /receipts\.agree: expected at most 2: upstreams have 2 operators, got 3 \(--set/,
    };
    t.throws(refusal(['https://a.example', 'https://b.test']), two);
    t.throws(refusal(['https://a.example', 'https://x.a.example']), { exitCode: 78, message: /one operator/ });
    t.throws(refusal([]), { exitCode: 78, message: /at most 1/ });
  });

  t.test('--geyser names the feed of the first node, its token file found from the working directory', async (t) => {
    const [first, second] = load({
      upstream: ['http://a:1,ws://a:9', 'http://b'],
      geyser: 'http://a:10000',
    }).upstreams;
    t.match([first, second], [{ wsUrl: 'ws://a:9/', geyser: { url: 'http://a:10000' } }, { url: 'http://b/' }]);
    t.equal(second?.geyser, undefined);
    t.match(refusal({ geyser: 'http://a:10000' }), { exitCode: 64, message: /name that too with --upstream/ });
    const upstreams = [{ url: 'http://a', geyser: { url: 'https://a', tokenFile: 'token' } }];
    const config = load({ config: file({ upstreams }) });
    t.equal(config.upstreams[0]?.geyser?.tokenFile, join(cwd, 'token'));
    const withKey = refusal({ upstream: ['http://a'], geyser: 'https://a/KEY' });
    t.match(withKey, { exitCode: 78, message: /expected http:\/\/HOST:PORT alone: a key goes into tokenFile/ });
    t.notMatch(withKey, { message: /KEY/ });
  });

  t.test('a file changes only the settings in it', async (t) => {
    const { limits } = load({ config: file({ limits: { free: { units: 7 } } }) });
    t.strictSame(limits, { ...defaults.limits, free: { ...defaults.limits.free, units: 7 } });
  });

  t.test('--config accepts a name from config/ or a path from the working directory', async (t) => {
    for (const name of ['mainnet', 'devnet']) {
      const { cluster, upstreams } = load({ config: name });
      t.match(cluster, /^[1-9A-Za-z]{43,44}$/);
      t.match(upstreams, [{ url: /^https:/, wsUrl: /^wss:/, pooled: true }]);
    }
    t.strictSame(load({ config: './empty.json' }), load());
    t.match(refusal({ config: 'maninet' }), {
      exitCode: 78,
      message: /maninet, .* is mainnet \(of devnet, mainnet, two-/,
    });
  });

  t.test('a node needs no more than its URL', async (t) => {
    const upstreams = (...upstream: string[]) => load({ upstream }).upstreams;
    t.strictSame(upstreams('http://127.0.0.1:8899', 'https://rpc.example/v2/KEY', 'http://a:1,ws://b:2/pubsub'), [
      { id: 'node-1', operator: '127.0.0.1:8899', url: 'http://127.0.0.1:8899/', wsUrl: 'ws://127.0.0.1:8900/' },
      { id: 'node-2', operator: 'rpc.example', url: 'https://rpc.example/v2/KEY', wsUrl: 'wss://rpc.example/v2/KEY' },
      { id: 'node-3', operator: 'a', url: 'http://a:1/', wsUrl: 'ws://b:2/pubsub' },
    ]);
    const roles = { weight: 2.5, archival: true, pooled: true, methods: ['getBlock'] };
    const config = file({
      upstreams: [
        { id: 'mine', url: 'http://a:1', ws: 'ws://a:9' },
        { url: 'http://b:65534', ...roles },
      ],
    });
    t.strictSame(load({ config }).upstreams, [
      { id: 'mine', operator: 'a', url: 'http://a:1/', wsUrl: 'ws://a:9/' },
      { id: 'node-2', operator: 'b', url: 'http://b:65534/', wsUrl: 'ws://b:65535/', ...roles },
    ]);
  });

  t.test('an unknown name is refused with the nearest known one', async (t) => {
    const cases: readonly [ConfigFlags, Record<string, string>, RegExp][] = [
      [{ set: ['prot=1'] }, {}, /^unknown setting prot, the nearest known name is port$/],
      [{ set: ['limits.fre.units=1'] }, {}, /limits\.fre\.units, .* is limits\.free\.units$/],
      [{ set: ['limits.fre=1'] }, {}, /^unknown setting limits\.fre, the nearest known name is limits\.free$/],
      [{ set: ['limts.free=1'] }, {}, /^unknown setting limts\.free, the nearest known name is limits\.free$/],
      [{}, { SLOTGATE_LIMTS_FREE: '1' }, /, the nearest known name is SLOTGATE_LIMITS_FREE$/],
      [{ set: ['limits.free=5'] }, {}, /^limits\.free is a group of settings: set limits\.free\.units, limits\.free\./],
      [
        {},
        { SLOTGATE_LOG: 'info' },
        /^SLOTGATE_LOG is a group of settings: set SLOTGATE_LOG_LEVEL, SLOTGATE_LOG_SLOW_MS$/,
      ],
      [
        {},
        { SLOTGATE_UPSTREAM: 'http://a' },
        /^SLOTGATE_UPSTREAM is .*, the nearest known name is SLOTGATE_UPSTREAMS: set /,
      ],
      [{ set: ['upstream=http://a'] }, {}, /^unknown setting upstream, the nearest known name is upstreams$/],
      [{ set: ['__proto__.port=1'] }, {}, /^unknown setting __proto__\.port; see slotgate config schema$/],
      [{}, { SLOTGATE_PROT: '1' }, /^unknown variable SLOTGATE_PROT, the nearest known name is SLOTGATE_PORT$/],
      [{ config: file({ prot: 1 }) }, {}, /^unknown setting prot, the nearest known name is port \(.*overlay\.json\)$/],
    ];
    for (const [flags, env, message] of cases) t.match(refusal(flags, env), { exitCode: 78, message });
    const files: readonly [unknown, RegExp][] = [
      [{ limits: { fre: { units: 1 } } }, /^unknown setting limits\.fre, the nearest known name is limits\.free \(/],
      [{ cache: { byts: 1, presgn: 1 } }, /cache\.byts, .* cache\.bytes .*; .*cache\.presgn, .* cache\.presign /],
      [JSON.parse('{ "__proto__": { "port": 1 } }'), /^unknown setting __proto__; see slotgate config schema \(/],
      [
        { upstreams: [{ url: 'http://a', wss: 'ws://a' }] },
        /^upstreams\[0\]: expected a URL.* url and perhaps ws, id, operator, weight, archival, pooled, methods and geyser, got /,
      ],
    ];
    for (const [values, message] of files) t.match(refusal({ config: file(values) }), { exitCode: 78, message });
  });

  t.test('a reload keeps the port for callers, and is refused where operators would get it', async (t) => {
    const started = load({ port: '1000', adminPort: '1001' });
    const renewed = (port: string, isChosen = true) =>
      withFixedSettings(load({ port: '2000', adminPort: port }), started, isChosen);
    t.match(renewed('3000'), { port: 1000, admin: { port: 3000 } });
    t.throws(() => renewed('1000'), { message: 'admin.port is 1000, which is the port for callers until a restart' });
    t.match(renewed('1000', false), { port: 1000 }, 'one that nobody has chosen gives way');
  });

  t.test('whatever prevents a reload, the settings in use stay', async (t) => {
    const reread = rereadConfig(load(), () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    t.same(reread, { problem: 'too many open files' });
  });

  t.test('the version on disk reads the settings again for workers, and has its own', async (t) => {
    const folder = t.testdir({ 'package.json': '{"type":"module","version":"0.2.0"}' });
    for (const part of ['config', 'shared', 'gateway/composition'])
      cpSync(new URL(`../../src/${part}`, import.meta.url), `${folder}/dist/src/${part}`, { recursive: true });
    const schemaPath = `${folder}/dist/src/config/config-schema.js`;
    const schema = readFileSync(schemaPath, 'utf8');
    writeFileSync(
      schemaPath,
      schema.replace(/(?=repeatAfterMs:|passwordFile:)/g, 'added: z.number().describe("x."), '),
    );
    const { stream, redis } = defaults;
    const values = { ...defaults, stream: { ...stream, added: 5 }, redis: { ...redis, added: 6 } };
    mkdirSync(`${folder}/config`);
    writeFileSync(`${folder}/config/default.json`, JSON.stringify(values));
    const module = pathToFileURL(`${folder}/dist/src/gateway/composition/reread-main.js`);
    const started = load({ workers: '1' });
    const sources = { flags: { workers: '0', upstream: ['http://a'], set: ['cache.presign=1'] }, cwd };
    const reread = (): ReturnType<typeof rereadOnDisk> =>
      rereadOnDisk(module, { sources, inUse: started, started, isAdminPortChosen: false });
    const reply = await reread();
    if ('problem' in reply) throw new Error(reply.problem);
    const { stream: streamNext, redis: redisNext, upstreams, workers, cache } = reply.next;
    t.match([streamNext, redisNext], [{ added: 5 }, { added: 6 }], 'its new settings are there for the new processes');
    t.match([upstreams, workers.count, cache.presign], [[], 1, 1]);
    const { changed, kept } = reply;
    t.same([...changed].sort(), ['cache.presign', 'redis.added', 'stream.added', 'upstreams', 'workers.count']);
    t.same([...kept].sort(), ['upstreams', 'workers.count'], 'a log names what it does not apply');
    rmSync(`${folder}/config`, { recursive: true });
    t.match(await reread(), { problem: /ENOENT/ }, 'while it is being installed the settings in use stay');
  });

  t.test('an invalid value is refused with its name, the expectation, the value and its source', async (t) => {
    for (const cells of readTable('unit/refused-settings.txt', true)) {
      const message = cells.at(-1) ?? '';
      const [flags, env]: [Record<string, string | string[]>, Record<string, string>] = [{}, {}];
      for (const cell of cells.slice(0, -1)) {
        const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(cell.replace('MINT', MINT)) ?? [];
        if (name === 'set' || name === 'upstream') flags[name] = [...(flags[name] ?? []), value];
        else (/^[A-Z]/.test(name) ? env : flags)[name] = value;
      }
      const isAccepted = message === 'accepted';
      const expected = isAccepted ? { exitCode: 0, message: '' } : { exitCode: 78, message };
      t.strictSame(refusal(flags, env), expected);
    }
    const long = 'z'.repeat(44); // 33 bytes
    const files: readonly [unknown, RegExp][] = [
      [{ cluster: long }, /^cluster: expected a genesis hash in base58, or null/],
      [{ stake: { mint: long, host: 'a' } }, /^stake.mint: expected the address of a mint, or null/],
      [{ stake: { unitBalance: '18446744073709551616' } }, /^stake.unitBalance: expected .* from 1 to 2\^64 - 1, got/],
      [{ tokens: { known: { [long]: 'A' } } }, /^tokens.known.z{44}: expected/],
      [{ prices: { static: { [long]: 1 } } }, /^prices.static.z{44}: expected/],
      [{ prices: { pyth: { feeds: { [long]: '0'.repeat(64) } } } }, /^prices.pyth.feeds.z{44}: expected/],
      [
        { prices: { pyth: { programs: [{ receiver: long, pushOracle: MINT }] } } },
        /^prices.pyth.programs\[0\].receiver: expected the address of a program/,
      ],
      [{ limits: 5 }, /^limits: expected a group of settings, got 5 \([^)]*\)$/],
      [{ limits: { free: 5 } }, /^limits\.free: expected a group of settings, got 5 \([^)]*\)$/],
      [{ upstream: ['http://a'] }, /^unknown setting upstream, the nearest known name is upstreams \(/],
      [{ upstreams: { timeoutMs: 5 } }, /^upstreams: expected a list of nodes, got \{"timeoutMs":5\} \([^)]*\)$/],
      [{ stake: '/var/lib' }, /^stake: expected a group of settings, got "\/var\/lib" \([^)]*\)$/],
      [{ port: '8787' }, /^port: expected a whole number .*, got "8787" \(/],
      [{ cluster: 'mainnet' }, /^cluster: expected a genesis hash in base58, or null .*, got "mainnet" \(/],
      [{ upstreams: 'http://a' }, /^upstreams: expected a list of nodes, got "http:\/\/a" \(/],
      [{ upstreams: [{ url: 'http://a:65535' }] }, /^upstreams\[0\]: expected ws too/],
      [{ upstreams: [{ url: 'http://a', weight: 0 }] }, /^upstreams\[0\].weight: expected a number from 0.01 to 100/],
      [
        { upstreams: [{ url: 'http://a', methods: ['sendTransaction'] }] },
        /^upstreams\[0\].methods\[0\]: expected the name of a read method/,
      ],
      [{ upstreams: ['http://a', { id: 'node-1', url: 'http://b' }] }, /^upstreams: expected ids that differ/],
      [{ port: 'x', host: 1 }, /^host: .*; port: /],
    ];
    for (const [values, message] of files) t.match(refusal({ config: file(values) }), { exitCode: 78, message });
  });

  t.test('a setting is chosen by whoever names it, be it with its default', async (t) => {
    const path = ['admin', 'port'];
    t.notOk(isChosen({ cwd }, path));
    t.notOk(isChosen({ cwd, flags: { port: '1', set: ['admin.host=::1'] } }, path));
    t.ok(isChosen({ cwd, flags: { adminPort: '8788' } }, path));
    t.ok(isChosen({ cwd, env: { SLOTGATE_ADMIN_PORT: '8788' } }, path));
    t.ok(isChosen({ cwd, flags: { config: file({ admin: { port: null } }) } }, path));
  });

  t.test('a host is an IP address or a host name', async (t) => {
    for (const host of [
      '127.0.0.1',
      '0.0.0.0',
      '::',
      '::1',
      'fe80::1%eth0',
      'localhost',
      'gateway.example',
      'a-b',
      'x1',
    ])
      t.equal(load({ host }).host, host);
    for (const host of [
      '999.1.1.1',
      '1.2.3',
      '127.0.0.1:80',
      'http://a',
      '[::1]',
      'a_b',
      '-a',
      'a..b',
      '::g',
      '10.0.0.0/8',
    ])
      t.match(refusal({ host }), { exitCode: 78, message: /^host: expected an IP address or a host name/ }, host);
  });

  t.test('a list accepts blanks, commas or JSON between its values', async (t) => {
    for (const text of ['10.0.0.0/8 ::1', '10.0.0.0/8,::1', ' 10.0.0.0/8, ::1', '["10.0.0.0/8","::1"]'])
      t.strictSame(load({ set: [`trustedProxies=${text}`] }).trustedProxies, ['10.0.0.0/8', '::1'], text);
    t.strictSame(
      load({}, { SLOTGATE_UPSTREAMS: 'http://a:1,ws://b:2 http://c:3' }).upstreams.map(({ wsUrl }) => wsUrl),
      ['ws://b:2/', 'ws://c:4/'],
    );
  });

  t.test('a list of none is written as JSON: a blank text may be that of a variable that is not set', async (t) => {
    const config = file({ upstreams: ['http://a'], hosts: ['a.example'], origins: ['https://a.example'] });
    for (const name of ['UPSTREAMS', 'HOSTS', 'ORIGINS'])
      for (const blank of ['', ' \t'])
        t.match(refusal({ config }, { [`SLOTGATE_${name}`]: blank }), {
          exitCode: 78,
          message: new RegExp(`^${name.toLowerCase()}: .*, got "[^"]*" \\(SLOTGATE_${name}\\)$`),
        });
    t.match(load({ config }, { SLOTGATE_UPSTREAMS: '[]', SLOTGATE_HOSTS: '[]' }), { upstreams: [], hosts: [] });
  });

  t.test('null as text is no value, where a setting may be without one', async (t) => {
    const names = ['redis.passwordFile', 'redis.ca', 'prices.jupiter.keyFile', 'stake.host'];
    for (const { name, path, env } of SETTINGS.filter(({ name }) => names.includes(name))) {
      const config = file(path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), '/a'));
      t.equal(at(load({ config, set: [`${name}=null`] }), path), null, name);
      t.equal(at(load({ config }, { [env]: 'null' }), path), null, env);
    }
    t.match(refusal({ set: ['hosts=null'] }), { exitCode: 78, message: /^hosts: / });
  });

  t.test('no text that readers see has the former name of a setting', async (t) => {
    const texts = [readFileSync(packageFile('README.md'), 'utf8'), ...pluck(readChapters(), 'markdown')];
    const names = Array.from(texts.join('\n').matchAll(/SLOTGATE_[A-Z_]+|[a-z]\w*\.[\w.]+/g), ([name]) => name);
    t.ok(names.includes('SLOTGATE_DRAIN_TIMEOUT_MS') && names.includes('cache.bytes'));
    const former = names.filter((name) => findFormerSetting(name) !== undefined);
    t.same(former, []);
  });

  /** What Kubernetes 1.34 sets for the services `slotgate` (two ports) and `slotgate-cache` (IPv6, UDP), and Docker for a link. */
  const SERVICE_LINKS = {
    SLOTGATE_SERVICE_HOST: '10.0.0.1',
    SLOTGATE_SERVICE_PORT: '8787',
    SLOTGATE_SERVICE_PORT_HTTP: '8787',
    SLOTGATE_SERVICE_PORT_METRICS: '9000',
    SLOTGATE_PORT: 'tcp://10.0.0.1:8787',
    SLOTGATE_PORT_8787_TCP: 'tcp://10.0.0.1:8787',
    SLOTGATE_PORT_8787_TCP_PROTO: 'tcp',
    SLOTGATE_PORT_8787_TCP_PORT: '8787',
    SLOTGATE_PORT_8787_TCP_ADDR: '10.0.0.1',
    SLOTGATE_CACHE_SERVICE_HOST: 'fd00::1',
    SLOTGATE_CACHE_SERVICE_PORT: '53',
    SLOTGATE_CACHE_PORT: 'udp://[fd00::1]:53',
    SLOTGATE_CACHE_PORT_53_UDP: 'udp://[fd00::1]:53',
    SLOTGATE_CACHE_PORT_53_UDP_PROTO: 'udp',
    SLOTGATE_CACHE_PORT_53_UDP_PORT: '53',
    SLOTGATE_CACHE_PORT_53_UDP_ADDR: 'fd00::1',
    SLOTGATE_NAME: '/web/slotgate',
    SLOTGATE_ENV_LANG: 'C',
  };

  t.test('the variables of a service called slotgate are no settings', async (t) => {
    t.strictSame(load({}, SERVICE_LINKS), load());
    t.strictSame([...findServiceLinks({ ...SERVICE_LINKS, SLOTGATE_HOST: '::1' })], Object.keys(SERVICE_LINKS));
    t.equal(load({ port: '1' }, SERVICE_LINKS).port, 1);
    t.equal(load({ config: file({ port: 2 }) }, SERVICE_LINKS).port, 2);
    t.equal(load({}, { ...SERVICE_LINKS, SLOTGATE_PORT: '3' }).port, 3, 'a port that was set in place of the link');
    for (const [name, value] of Object.entries({
      SLOTGATE_SERVICE_HOST: 'gateway.example',
      SLOTGATE_SERVICE_PORT: 'http',
      SLOTGATE_PORT_8787_TCP: '8787',
      SLOTGATE_PORT_TCP: 'tcp://10.0.0.1:8787',
      SLOTGATE_NAME: '/web/slotgate',
      SLOTGATE_ENV_LANG: 'C',
    }))
      t.match(refusal({}, { [name]: value }), { exitCode: 78, message: /^unknown variable SLOTGATE_/ }, name);
  });

  t.test('a file that cannot be read is refused', async (t) => {
    const url = refusal({ config: 'https://rpc.example/KEY' });
    t.match(url, { exitCode: 64, message: 'https://rpc.example/***' });
    t.notMatch(String(url), 'KEY');
    t.equal(load({ config: './marked.json' }).port, 7, 'with a byte order mark');
    t.match(refusal({ config: './absent.json' }), { exitCode: 78, message: /^can't read \.\/absent\.json: ENOENT/ });
    t.match(refusal({ config: './list.json' }), { exitCode: 78, message: /expected an object of settings$/ });
    t.match(refusal({ config: './broken.json' }), { exitCode: 78, message: /^can't read \.\/broken\.json: / });
  });

  t.test('--set without a value is bad usage, not bad configuration', async (t) => {
    for (const set of ['port', '=1'])
      t.match(refusal({ set: [set] }), { exitCode: 64, message: /^--set must be name=value/ });
  });

  t.test('no key in a URL is ever printed, neither in a message nor in the configuration', async (t) => {
    const urls = [
      'https://KEY@rpc.example',
      'https://user:KEY@rpc.example/',
      'https://rpc.example/v2/KEY',
      'https://rpc.example/?api-key=KEY',
      'https://rpc.example#KEY',
      'https://rpc.example/,wss://rpc.example/KEY',
    ];
    for (const url of urls) {
      const printed = formatConfig(load({ upstream: [url] }));
      t.notMatch(printed, /KEY/);
      t.match(printed, /rpc\.example/);
      for (const broken of [
        url.replace('https', 'ftp'),
        url.replace('https://', ''),
        url.replace('.example', ' example'),
      ]) {
        const { exitCode, message } = refusal({ upstream: [broken] });
        t.equal(exitCode, 78);
        t.notMatch(message, /KEY/, broken);
      }
      for (const set of [url, `${url}=1`]) t.notMatch(refusal({ set: [set] }).message, /KEY/, set);
      t.notMatch(refusal({ host: url, port: url }).message, /KEY/);
    }
    t.notMatch(refusal({ config: './broken.json' }).message, /KEY/);
    for (const text of ['KEY', 'default:KEY@host', 'host/KEY', 'host?api-key=KEY', 'redis:KEY', 'ftp://host/KEY']) {
      for (const [setting, env] of [
        ['redis.url', 'SLOTGATE_REDIS_URL'],
        ['prices.jupiter.url', 'SLOTGATE_PRICES_JUPITER_URL'],
        ['prices.jupiter.tokensUrl', 'SLOTGATE_PRICES_JUPITER_TOKENS_URL'],
        ['upstreams', 'SLOTGATE_UPSTREAMS'],
      ] as const) {
        t.match(
          refusal({ set: [`${setting}=${text}`] }),
          { exitCode: 78, message: /^(?!.*KEY)/ },
          `${setting}=${text}`,
        );
        t.match(refusal({}, { [env]: text }), { exitCode: 78, message: /^(?!.*KEY)/ }, `${env}=${text}`);
      }
      for (const values of [{ redis: text }, { prices: text }, { prices: { jupiter: text } }])
        t.match(refusal({ config: file(values) }), { exitCode: 78, message: /^(?!.*KEY)/ }, JSON.stringify(values));
    }
    for (const text of ['default:KEY@host', 'host?api-key=KEY']) t.notMatch(refusal({ host: text }).message, /KEY/);
  });

  t.test('whatever the URL, a key before or after its host stays hidden', async () => {
    const key = fc.stringMatching(/^[a-zA-Z0-9]{12,40}$/);
    const place = fc.constantFrom<(host: string, key: string) => string>(
      (host, key) => `https://${key}@${host}`,
      (host, key) => `https://user:a/${key}@${host}`,
      (host, key) => `https://${host}/${key}`,
      (host, key) => `https://${host}/v2/${key}/?x=1`,
      (host, key) => `https://${host}?api-key=${key}`,
      (host, key) => `${host}/#${key}`,
    );
    fc.assert(
      fc.property(fc.domain(), key, place, (host, key, place) => {
        const shown = redactUrl(place(host, key));
        return shown.includes(host) && !shown.includes(key);
      }),
    );
  });

  t.test('the printed configuration can be loaded again', async (t) => {
    const config = load({ upstream: ['http://127.0.0.1:8899'], set: ['trustedProxies=10.0.0.0/8'], port: '0' });
    t.strictSame(load({ config: file(JSON.parse(formatConfig(config))) }), config);
  });

  t.test('the key of a service is no setting, and is in no output and no error', async (t) => {
    const key = 'jup-secret-1';
    const secret = { SLOTGATE_JUPITER_KEY: ` ${key}\n` };
    const keyFile = join(cwd, 'jupiter.key');
    writeFileSync(keyFile, 'from-file\n');
    const config = load({ set: ['prices.jupiter.keyFile=jupiter.key'] }, secret);
    t.notMatch(formatConfig(config), key);
    t.equal(config.prices.jupiter.keyFile, keyFile, 'paths are relative to the working directory');
    const env: NodeJS.ProcessEnv = { ...secret };
    t.equal(readJupiterKey(extractSecrets(env), keyFile), key, 'the variable comes first');
    t.same(env, {}, 'and is removed from the environment');
    t.equal(readJupiterKey({}, keyFile), 'from-file');
    t.equal(readJupiterKey(extractSecrets({}), null), undefined);
    t.throws(() => readJupiterKey({}, join(cwd, 'none')), { exitCode: 78, message: /keyFile: can't read/ });
    writeFileSync(keyFile, 'two words');
    t.throws(() => readJupiterKey({}, keyFile), { exitCode: 78, message: /^(?!.*two words)/ });
    t.match(refusal({}, { SLOTGATE_JUPITER_KEYS: key }), { exitCode: 78 });
  });

  t.test('the password of Redis is no setting, and stands in no URL', async (t) => {
    const variables = { SLOTGATE_REDIS_PASSWORD: 'redis-secret-1' };
    t.doesNotThrow(() => load({}, variables));
    const env: NodeJS.ProcessEnv = { ...variables };
    t.equal(readRedisPassword(extractSecrets(env), join(cwd, 'none')), 'redis-secret-1');
    t.same(env, {}, 'it is removed from the environment');
    t.throws(() => readRedisPassword({}, join(cwd, 'none')), { exitCode: 78, message: /passwordFile: can't read/ });
    t.match(refusal({ redis: 'redis://:redis-secret-1@a' }), { exitCode: 78, message: /^redis.url: .*--redis/ });
    t.notMatch(refusal({ redis: 'redis://:redis-secret-1@a' }), /redis-secret-1/);
    const ca = join(cwd, 'ca.pem');
    writeFileSync(ca, '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n');
    const fleet = load({ redis: 'rediss://a', upstream: ['http://a'], set: [`redis.ca=${ca}`] });
    t.throws(() => readRedisSettings(fleet, {}), {
      exitCode: 78,
      message: /^redis\.ca: expected a certificate in PEM/,
    });
    const nodeless = load({ redis: 'redis://a' });
    t.throws(() => readFleetSettings(nodeless, {}), { exitCode: 78, message: /redis.url needs upstreams/ });
    t.match(readRedisSettings(nodeless, {}), { url: 'redis://a' }, 'the commands about its keys need no nodes');
  });

  t.test('each mint with a price feed on mainnet is a known one', async (t) => {
    const { prices, tokens } = load({ config: 'mainnet' });
    const unnamed = Object.keys(prices.pyth.feeds).filter((mint) => tokens.known[mint] === undefined);
    t.same(unnamed, []);
    t.equal(new Set(Object.values(prices.pyth.feeds)).size, Object.keys(prices.pyth.feeds).length);
  });

  t.test('a former name counts until the next minor version, with a warning that names both', async (t) => {
    const config = file({ cache: { maxStaleSlots: 100, bytes: 1_000_000 }, watch: { idleSlots: 5 } });
    const env = { SLOTGATE_CACHE_MAX_STALE_SLOTS: '200' };
    const set = ['watch.idleSlots=10'];
    t.match(load({ config }), { cache: { maxStaleMs: 40_000, bytes: 1_000_000 }, live: { idleMs: 2000 } });
    t.match(load({ config, set }, env), { cache: { maxStaleMs: 80_000 }, live: { idleMs: 4000 } });
    t.match(load({ set: [...set, 'live.idleMs=7'] }).live, { idleMs: 7 });
    t.strictSame(describeFormerSettings({ flags: { config, set }, env, cwd }), [
      `cache.maxStaleSlots (${config}) is called cache.maxStaleMs now, 400 times the value; the next minor version refuses the old name`,
      `watch.idleSlots (${config}) is called live.idleMs now, 400 times the value; the next minor version refuses the old name`,
      'cache.maxStaleSlots (SLOTGATE_CACHE_MAX_STALE_SLOTS) is called cache.maxStaleMs now, 400 times the value; the next minor version refuses the old name',
      'watch.idleSlots (--set watch.idleSlots) is called live.idleMs now, 400 times the value; the next minor version refuses the old name',
    ]);
    t.strictSame(describeFormerSettings({ flags: { set: ['live.idleMs=7'] }, cwd }), []);
    t.match(refusal({ set: ['watch.idleSlots=many'] }), {
      exitCode: 78,
      message: /^live\.idleMs: expected a whole number .*--set watch\.idleSlots/,
    });
    t.match(refusal({ config: file({ cache: { maxStaleSlot: 1 } }) }).message, /unknown setting cache\.maxStaleSlot/);
  });

  /** Settings whose own name has changed, without another unit, by their former names. */
  const RENAMED: Readonly<Record<string, string>> = {
    'cache.sealAhead': 'cache.presign',
    'cache.sealTogether': 'cache.signBatchSize',
    'upstream.silenceMs': 'upstreamPolicy.idleTimeoutMs',
    'upstream.ackMs': 'upstreamPolicy.ackTimeoutMs',
    'upstream.startMs': 'upstreamPolicy.startTimeoutMs',
    'upstream.maxJump': 'upstreamPolicy.maxSlotJump',
    'upstream.steadySlots': 'upstreamPolicy.recoverySlots',
    'limits.free.requests': 'limits.free.units',
    'limits.build.requests': 'limits.build.units',
    'limits.scale.requests': 'limits.scale.units',
    'limits.staked.requests': 'limits.staked.units',
    'limits.identities': 'limits.trackedAddresses',
    'limits.owedBytes.total': 'limits.pendingBytes.total',
    'limits.owedBytes.caller': 'limits.pendingBytes.caller',
    'stake.step': 'stake.unitBalance',
    'stream.silenceMs': 'stream.repeatAfterMs',
    drainMs: 'drainTimeoutMs',
    state: 'dataDir',
  };
  const SECTIONS = { live: 'watch', upstreamPolicy: 'upstream' };
  const inRenamedSections = Object.entries(SECTIONS).flatMap(([section, former]) =>
    SETTINGS.filter(({ path, name }) => path[0] === section && !Object.values(RENAMED).includes(name)).map(
      ({ path, name }) => [[former, ...path.slice(1)].join('.'), name] as const,
    ),
  );

  for (const [former, name] of [...Object.entries(RENAMED), ...inRenamedSections]) {
    t.test(`${former} sets ${name} from a file, a variable and a flag, each with one warning`, async (t) => {
      const path = name.split('.');
      const value = at(defaults, path);
      const other =
        name === 'live.callerShare' ? 0.5 : name === 'limits.pendingBytes.caller' ? 65_536 : others(name, value)[0];
      const variable = `SLOTGATE_${former.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;
      const warning = (source: string): string =>
        `${former} (${source}) is called ${name} now; the next minor version refuses the old name`;
      const config = file(former.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), other));
      const env = { [variable]: typed(other) };
      const set = [`${former}=${typed(other)}`];
      t.strictSame(at(load({ config }), path), other);
      t.strictSame(at(load({}, env), path), other);
      t.strictSame(at(load({ set }), path), other);
      t.strictSame(describeFormerSettings({ flags: { config }, cwd }), [warning(config)]);
      t.strictSame(describeFormerSettings({ env, cwd }), [warning(variable)]);
      t.strictSame(describeFormerSettings({ flags: { set }, cwd }), [warning(`--set ${former}`)]);
    });
  }

  t.test('a section under its former name merges with the present one, whose values go first', async (t) => {
    const config = file({ watch: { accounts: 1, lists: 2 }, live: { lists: 3 }, upstream: {} });
    t.match(load({ config }).live, { accounts: 1, lists: 3, idleMs: 60_000 });
    t.match(
      refusal({ config: file({ watch: { acounts: 1 } }) }).message,
      /^unknown setting live\.acounts, .* live\.accounts /,
    );
  });

  t.test('the present name of a setting goes over its former one in the same source, in whatever order', async (t) => {
    const both = { maxStaleSlots: 100, maxStaleMs: 7000 };
    const variables = { SLOTGATE_CACHE_MAX_STALE_SLOTS: '100', SLOTGATE_CACHE_MAX_STALE_MS: '7000' };
    const reversed = <T extends object>(members: T): T => Object.fromEntries(Object.entries(members).reverse()) as T;
    const assigned = ['cache.maxStaleSlots=100', 'cache.maxStaleMs=7000'];
    const counting = (former: string, present: string): string =>
      `cache.maxStaleSlots (${former}) is called cache.maxStaleMs now, 400 times the value, and cache.maxStaleMs (${present}) counts in its place; the next minor version refuses the old name`;
    for (const order of [<T extends object>(it: T) => it, reversed]) {
      const config = file({ cache: order(both) });
      t.equal(load({ config }).cache.maxStaleMs, 7000);
      t.strictSame(describeFormerSettings({ flags: { config }, cwd }), [counting(config, config)]);
      const env = order(variables);
      t.equal(load({}, env).cache.maxStaleMs, 7000);
      t.strictSame(describeFormerSettings({ env, cwd }), [
        counting('SLOTGATE_CACHE_MAX_STALE_SLOTS', 'SLOTGATE_CACHE_MAX_STALE_MS'),
      ]);
      const set = order === reversed ? assigned.toReversed() : assigned;
      t.equal(load({ set }).cache.maxStaleMs, 7000);
      t.strictSame(describeFormerSettings({ flags: { set }, cwd }), [
        counting('--set cache.maxStaleSlots', '--set cache.maxStaleMs'),
      ]);
      const upper = { SLOTGATE_CACHE_MAX_STALE_SLOTS: '5' };
      t.equal(load({ config }, upper).cache.maxStaleMs, 2000, 'and a former one over a present one of a lower source');
    }
  });
});

t.test('print-config', async (t) => {
  const schema = JSON.parse(formatConfigSchema());
  const packaged = (name: string): unknown => JSON.parse(readFileSync(packageFile(`config/${name}.json`), 'utf8'));

  /** Returns the schema of a setting or section. */
  const schemaAt = (path: readonly string[]): Record<string, unknown> =>
    path.reduce((section, name) => section.properties[name], schema);

  t.test('each setting has a description that ends like a sentence, and its default', async (t) => {
    for (const { name, path } of SETTINGS) {
      const setting = schemaAt(path);
      t.match(setting['description'], /^[A-Z].{10,}\.$/, name);
      t.same(setting['default'], valueAt(packaged('default'), path), name);
    }
  });

  t.test('each section has a description', async (t) => {
    for (const { path } of SETTINGS) {
      for (let depth = 1; depth < path.length; depth++) {
        t.match(schemaAt(path.slice(0, depth))['description'], /^[A-Z].{4,}\.$/, path.slice(0, depth).join('.'));
      }
    }
  });

  t.test('the schema accepts the packaged files and refuses what a start refuses', async (t) => {
    const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(schema);
    for (const name of ['default', 'mainnet', 'devnet']) t.ok(validate(packaged(name)), name);
    t.ok(validate({ upstreams: ['http://127.0.0.1:8899', { url: 'http://127.0.0.1:8899', weight: 2 }] }));
    t.notOk(validate({ limits: { free: { requets: 1 } } }), 'an unknown setting');
    t.notOk(validate({ port: 65_536 }), 'a value out of range');
    t.notOk(validate({ upstreams: [{ ws: 'ws://127.0.0.1:8900' }] }), 'a node without a URL');
  });

  t.test('config schema prints it, whatever the settings in force', async (t) => {
    t.same(await runSlotgate(['config', 'schema', '--port', 'none']), { code: 0, out: formatConfigSchema(), err: '' });
  });
});
