import { existsSync, statfsSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { Config } from '../../config/config-schema.ts';
import { readFleetSettings } from '../../config/redis-settings.ts';
import { readJupiterKey, type Secrets } from '../../config/secret-variables.ts';
import { describeServiceLinks } from '../../config/service-links.ts';
import {
  apiKeysPath,
  checkReceiptKeys,
  checkServer,
  embeddedPortsOf,
  type KeySource,
  keyFilePath,
  loadEngine,
  readApiKeys,
  redisReasonOf,
  withRedis,
  workerCount,
} from '../../gateway/index.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { hasErrorCode } from '../../shared/runtime/files/error-code.ts';
import { findFolderFault, nearestExisting } from '../../shared/runtime/files/state-folder.ts';
import { readMaxOpenFiles } from '../../shared/runtime/max-open-files.ts';
import { requireFreePort } from '../../shared/runtime/require-free-port.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkSharedKey } from './shared-key.ts';

export interface MachineFacts {
  readonly config: Config;
  /** Whether somebody has chosen the port of the listener for operators. */
  readonly isAdminPortChosen: boolean;
  readonly receiptKey: Omit<KeySource, 'stateDir'>;
  readonly secrets: Secrets;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

export async function checkMachine(facts: MachineFacts): Promise<readonly Finding[]> {
  const { config } = facts;
  return [
    checkServiceLinks(facts),
    await checkMainPort(config),
    ...(await checkAdminPort(facts)),
    await checkTrustedProxies(config),
    ...(config.upstreams.length === 0 ? [await checkEmbeddedPort(config), await checkGeyserPort(config)] : []),
    checkStateFolder(config.dataDir),
    ...checkReceiptKey(facts),
    ...checkApiKeys(config.dataDir),
    checkPriceKey(facts),
    await checkRedis(facts),
    checkOpenFiles(config),
    checkMemory(config),
  ].filter((finding) => finding !== undefined);
}

/** Loads the HTTP engine, and names what it does worse than another. */
export async function checkEngine({ http, workers }: Config): Promise<Finding> {
  const name = 'HTTP engine';
  try {
    const { engine, skipped, drawback } = await loadEngine(http.engine, workers.count !== 0);
    const loaded = `${engine.name} ${engine.version}`;
    return drawback === undefined ? ok(name, loaded) : warn(name, [loaded, ...skipped].join('; '), drawback);
  } catch (thrown) {
    return fail(name, reasonOf(thrown), 'set http.engine to auto, or do what it says');
  }
}

function checkServiceLinks({ env }: MachineFacts): Finding | undefined {
  const ignored = describeServiceLinks(env);
  return ignored === undefined ? undefined : warn('environment', ignored, 'set enableServiceLinks: false in the pod');
}

async function checkPort(
  name: string,
  host: string,
  port: number,
  option: string,
  inUse: CheckInUse,
): Promise<Finding> {
  try {
    await requireFreePort(host, port, option);
    return ok(name, port === 0 ? 'any free one' : `${host}:${port} is free`);
  } catch (thrown) {
    const { cause } = Object(thrown);
    if (!hasErrorCode(cause, 'EADDRINUSE'))
      return fail(name, reasonOf(thrown), hasErrorCode(cause, 'EACCES') ? 'choose a port from 1024 on' : WRONG_ADDRESS);
    const version = await slotgateAt(host, port);
    if (version !== undefined) return ok(name, `${host}:${port} is held by a running slotgate ${version}`);
    return inUse(reasonOf(thrown));
  }
}

const WRONG_ADDRESS = 'choose an address of this machine by host or admin.host: 127.0.0.1, or 0.0.0.0 for all';

/** Judges that another program listens at a port. */
type CheckInUse = (reason: string) => Finding;

async function checkMainPort({ host, port, rpc }: Config): Promise<Finding> {
  const found = await checkPort('port', host, port, '--port', (reason) =>
    fail('port', reason, 'end the program that holds it, or choose another by --port'),
  );
  if (found.verdict !== 'ok' || port === 0 || port === MAX_PORT || !rpc.nextPort) return found;
  const next = await requireFreePort(host, port + 1).then(
    () => 'free',
    async () => {
      const version = await slotgateAt(host, port + 1);
      return version === undefined ? 'in use' : `held by a running slotgate ${version}`;
    },
  );
  return ok('port', `${found.finding}; the next one, where some clients expect Solana's pubsub, is ${next}`);
}

const MAX_PORT = 65_535;

/** A port in use is a fault only if it was configured: else the next free one is used. */
async function checkAdminPort({ config, isAdminPortChosen }: MachineFacts): Promise<readonly Finding[]> {
  const { host, port } = config.admin;
  if (port === null) return [];
  const name = 'admin port';
  const inUse = `port ${port} of ${host} is in use`;
  return [
    await checkPort(name, host, port, '--admin-port', () =>
      isAdminPortChosen
        ? fail(name, inUse, 'choose another by --admin-port')
        : warn(name, inUse, 'choose another by --admin-port, or leave it: the next free one is used'),
    ),
  ];
}

/** Warns if a slotgate that runs here has refused callers behind a proxy that it does not trust. */
async function checkTrustedProxies({ admin: { host, port } }: Config): Promise<Finding | undefined> {
  const metrics = port === null || port === 0 ? undefined : await fetchText(host, port, '/metrics');
  const [, count = '0'] = /^slotgate_untrusted_forwarded_total (\d+)$/m.exec(metrics ?? '') ?? [];
  if (/^0+$/.test(count)) return undefined;
  return warn(
    'trusted proxies',
    `the running slotgate has refused ${count} requests with X-Forwarded-For from a proxy that trustedProxies does not list`,
    'if the proxy is yours, list it in trustedProxies: until then all callers behind it count as one',
  );
}

/** Returns the version of the slotgate that listens on a port, for callers or for operators; undefined if another program does. */
async function slotgateAt(host: string, port: number): Promise<string | undefined> {
  const { info } = await fetchJson(host, port, '/api/v1/openapi.json');
  if (info?.title === 'slotgate') return String(info.version);
  const { slotgate } = await fetchJson(host, port, '/statusz?format=json');
  return slotgate?.version;
}

async function fetchJson(host: string, port: number, path: string) {
  const text = await fetchText(host, port, path);
  return Object(tryOrUndefined(() => JSON.parse(text ?? '')));
}

/** Returns what a program on this machine answers; undefined if none does. */
async function fetchText(host: string, port: number, path: string): Promise<string | undefined> {
  try {
    const name = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
    return await (await fetch(`http://${name}:${port}${path}`, { signal: AbortSignal.timeout(2000) })).text();
  } catch {
    return undefined;
  }
}

async function checkEmbeddedPort(config: Config): Promise<Finding> {
  const { port, orFreePorts } = embeddedPortsOf(config);
  if (port === 0) return ok('embedded port', 'any free one');
  try {
    for (const each of [port, port + 1]) await requireFreePort('127.0.0.1', each, 'embedded.port');
    return ok('embedded port', `${port} and ${port + 1} are free`);
  } catch (thrown) {
    return orFreePorts
      ? ok('embedded port', `${port} or ${port + 1} is in use: the cluster uses two free ones`)
      : fail('embedded port', reasonOf(thrown), 'set embedded.port to another one, or to 0');
  }
}

async function checkGeyserPort({ embedded: { geyserPort } }: Config): Promise<Finding | undefined> {
  if (geyserPort === null) return undefined;
  return checkPort('Geyser port', '127.0.0.1', geyserPort, 'embedded.geyserPort', (reason) =>
    fail('Geyser port', reason, 'set embedded.geyserPort to another one, or to 0'),
  );
}

const MIN_FREE_BYTES = 100 * 1024 * 1024;

function checkStateFolder(state: string): Finding {
  const name = 'state folder';
  const fault = findFolderFault(state, true);
  if (fault !== undefined) return fail(name, fault.reason, fault.fix);
  const existing = nearestExisting(state);
  const { bavail, bsize } = statfsSync(existing);
  const free = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB free`;
  if (bavail * bsize < MIN_FREE_BYTES)
    return warn(name, `${state}: ${free}`, 'free some space: keys and usage need it');
  if (existing !== state) return ok(name, `${state} will be created; ${free}`);
  const mode = statSync(state).mode & 0o777;
  if ((mode & 0o077) !== 0)
    return warn(name, `${state} is open to others (mode ${mode.toString(8)})`, `chmod 700 ${state}`);
  return ok(name, `${state}, ${free}`);
}

function checkReceiptKey({ config, receiptKey, nowMs }: MachineFacts): readonly Finding[] {
  const source: KeySource = { ...receiptKey, stateDir: config.dataDir };
  const name = 'receipt key';
  const isInFolder = source.inline === undefined && source.file === undefined;
  if (isInFolder && findFolderFault(config.dataDir, false) !== undefined) return []; // what is wrong is the folder
  try {
    checkSharedKey(config, source);
    checkReceiptKeys(source, nowMs);
  } catch (thrown) {
    const fix = 'do what it says, restore it from a backup, or create another: slotgate receipt key create';
    return [fail(name, reasonOf(thrown), fix)];
  }
  if (source.inline === 'ephemeral')
    return [warn(name, 'ephemeral: receipts of it name a key that ends with the process', 'use RECEIPT_KEY_FILE')];
  if (source.inline !== undefined)
    return [warn(name, 'given inline: it never signs exact, and ends with the variable', 'use RECEIPT_KEY_FILE')];
  const path = keyFilePath(source);
  return existsSync(path) ? [checkSecretFile(name, path)] : [ok(name, `${path} will be created`)];
}

function checkApiKeys(state: string): readonly Finding[] {
  const path = apiKeysPath(state);
  const name = 'API keys';
  if (!existsSync(path)) return [];
  try {
    const count = readApiKeys(path).length;
    const { verdict, finding, fix } = checkSecretFile(name, path);
    return [fix === undefined ? ok(name, `${count} in ${path}`) : { verdict, name, finding, fix }];
  } catch (thrown) {
    return [fail(name, reasonOf(thrown), 'restore the file from a backup')];
  }
}

function checkSecretFile(name: string, path: string): Finding {
  const mode = statSync(path).mode & 0o777;
  return (mode & 0o077) === 0
    ? ok(name, path)
    : warn(name, `${path} can be read by others (mode ${mode.toString(8)})`, `chmod 600 ${path}`);
}

function checkPriceKey({ config, secrets }: MachineFacts): Finding | undefined {
  const { sources, jupiter } = config.prices;
  const name = 'price key';
  try {
    const key = readJupiterKey(secrets, jupiter.keyFile);
    if (!sources?.includes('jupiter-v3')) return undefined;
    if (key !== undefined) return ok(name, 'there is one for Jupiter');
    return fail(name, 'jupiter-v3 has no key', 'set prices.jupiter.keyFile or SLOTGATE_JUPITER_KEY');
  } catch (thrown) {
    return fail(name, reasonOf(thrown), 'correct prices.jupiter.keyFile or SLOTGATE_JUPITER_KEY');
  }
}

async function checkRedis({ config, secrets }: MachineFacts): Promise<Finding | undefined> {
  try {
    const settings = readFleetSettings(config, secrets);
    if (settings === undefined) return undefined;
    await withRedis(settings, systemClock, (redis) => checkServer(redis, 'slotgate:doctor:'));
    return ok('Redis', `${settings.url} can be used`);
  } catch (thrown) {
    const judge = thrown instanceof StartError && thrown.exitCode !== 78 ? warn : fail; // a gateway is alone until it can be reached
    return judge('Redis', redisReasonOf(thrown), 'correct redis.url, or the Redis that it names');
  }
}

/** The connections of callers that there should be room for. */
const EXPECTED_CALLERS = 1000;
/** Where a node accepts a hundred: the most sockets that accounts and lists may use. */
const SUBSCRIPTIONS_PER_SOCKET = 96;
const SUBSCRIPTIONS_PER_LIST = 11;

function checkOpenFiles({ upstreamPolicy, upstreams, live }: Config): Finding | undefined {
  const limit = readMaxOpenFiles();
  if (limit === undefined) return undefined; // this system does not say
  const sockets = (live.accounts + live.lists * SUBSCRIPTIONS_PER_LIST) / SUBSCRIPTIONS_PER_SOCKET;
  const own = Math.ceil(sockets + upstreamPolicy.connections * Math.max(1, upstreams.length)) + 100;
  const finding = `${limit} may be open; slotgate uses ${own} itself, and one for each connection`;
  return limit >= own + EXPECTED_CALLERS
    ? ok('open files', finding)
    : warn('open files', finding, 'raise the limit: ulimit -n 65536, or LimitNOFILE= of systemd');
}

/** The memory of a process without its cache. */
const BASE_BYTES = 200 * 1024 * 1024;

function checkMemory(config: Config): Finding {
  const { cache, ring, workers } = config;
  const limited = process.constrainedMemory();
  const total = limited > 0 && limited < totalmem() ? limited : totalmem();
  const count = workerCount(config);
  const processes = count === 0 ? 1 : count + 2; // the parent of the workers, and the pipeline process
  const parts = [
    ['the cache', cache.bytes],
    ['past versions', ring.bytes],
    [`${count} workers`, count * workers.cacheBytes],
    ['the rest', processes * BASE_BYTES],
  ] as const;
  const needed = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const uses = parts.flatMap(([what, bytes]) => (bytes === 0 ? [] : [`${what} ${mebibytes(bytes)}`]));
  const finding = `${mebibytes(total)}; slotgate uses up to ${mebibytes(needed)}: ${uses.join(', ')}`;
  const lower = count === 0 ? 'cache.bytes or ring.bytes' : 'cache.bytes, ring.bytes or workers.cacheBytes';
  return needed <= total ? ok('memory', finding) : fail('memory', finding, `lower ${lower}, or give it more`);
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
