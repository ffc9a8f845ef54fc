import { randomBytes } from 'node:crypto';
import { openAccess } from './access/access.ts';
import { Cache } from './cache/cache.ts';
import { Flight } from './cache/flight.ts';
import { type EmbeddedCluster, startEmbedded } from './cluster/embedded.ts';
import type { Config } from './config.ts';
import type { Clock } from './domain/clock.ts';
import { GatewayError } from './domain/error.ts';
import { StartError } from './domain/start-error.ts';
import { firstOfKind } from './first-of-kind.ts';
import { openapi } from './http/openapi.ts';
import { Sealer } from './http/seal.ts';
import { listen } from './http/server.ts';
import type { Log } from './log.ts';
import { version } from './package.ts';
import { readPage } from './page/page.ts';
import { startPipeline } from './pipeline/pipeline.ts';
import { ListWatch } from './pipeline/watch/list-watch.ts';
import { Watch } from './pipeline/watch/watch.ts';
import { pricesFrom } from './prices/settings.ts';
import { Guard } from './receipt/guard.ts';
import type { KeySource } from './receipt/key-source.ts';
import { openReceiptKeys, type ReceiptKeyRing } from './receipt/open-keys.ts';
import { ReceiptKeys } from './receipt/receipt-keys.ts';
import { isStrongSignature } from './receipt/signature.ts';
import { Signer } from './receipt/signer.ts';
import { signAlone } from './receipt/sole-signer.ts';
import { Answers } from './routes/answers.ts';
import { isHealthy } from './routes/health.ts';
import { HolderTables } from './routes/holder-tables.ts';
import { readHolding } from './routes/holding.ts';
import { routes } from './routes/index.ts';
import type { Context } from './routes/route.ts';
import { systemClock } from './system-clock.ts';
import { Accounts } from './upstream/accounts.ts';
import { connectMesh } from './upstream/connect-mesh.ts';
import type { Mesh } from './upstream/mesh.ts';
import type { NodeOptions } from './upstream/options.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Where the signing key comes from; with neither, from the state folder. */
  readonly receiptKey?: Omit<KeySource, 'stateDir'>;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface Gateway {
  readonly url: string;
  /** The genesis hash that the receipts are bound to. */
  readonly cluster: string;
  /** The key that signs them now: 32 bytes, base58. */
  readonly publicKey: string;
  /** How often a node gave two results for one finalized slot. The second is signed as `observed` only. */
  readonly conflicts: number;
  /** Whether a finalized answer may be signed as `exact`: no other process signs with the key. */
  readonly signsAlone: boolean;
  /** Reads the receipt keys again. When they can't be used, those it has go on. */
  reload(): void;
  /** Takes no more connections, answers what is under way, then ends. */
  close(): Promise<void>;
}

/** What the parts are given rather than take for themselves. */
type Surroundings = Pick<Required<GatewayOptions>, 'clock' | 'random' | 'log'>;

/** How long the start waits for the first frame, so that the first caller gets an answer. */
const WARM_UP_MS = 5000;

/** Wires the layers together and opens the door. The only file that knows them all. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, receiptKey, clock = systemClock, random = Math.random } = options;
  const startedMs = clock.monotonic();
  const keySource: KeySource = { production: false, ...receiptKey, stateDir: config.state };
  const receiptKeys = openReceiptKeys(keySource, clock.now());
  const { ring, path, created, warning } = receiptKeys;
  const keys = new ReceiptKeys(ring, clock, ({ publicKey, kid }) =>
    log.info({ publicKey, kid }, 'another receipt key signs'),
  );
  const verifyPage = await readPage('verify');
  const access = openAccess({
    ...config,
    waitMs: config.upstream.timeoutMs,
    clock,
    random,
    verify: isStrongSignature,
    readHolding: (wallet, mint) => readHolding(answers, wallet, mint),
    onProblem: (problem, err) => log.warn({ err }, problem),
  });
  const { mesh, embedded } = await connect(config, { clock, random, log }).catch((thrown: unknown) => {
    access.close();
    throw thrown;
  });

  let draining = false;
  const cache = new Cache({ ...config.cache, clock, hotKeys: config.refresh.hotKeys });
  const guard = new Guard((conflict) => log.error(conflict, 'two results for one finalized slot'));
  const signer = new Signer(keys, mesh.cluster, guard);
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  if (warning !== null) log.warn({}, warning);
  if (created) log.info({ publicKey: signer.publicKey, path }, 'receipt key created');

  const accounts = new Accounts(mesh);
  const watch = new Watch({
    mesh,
    accounts,
    clock,
    settings: config.watch,
    onMoved: () => cache.carryHot(),
    onProblem: (problem, facts) => log.warn(facts, problem),
  });
  const tokenLists = new ListWatch({
    mesh,
    clock,
    settings: config.watch,
    onMoved: () => cache.carryHot(),
    onProblem: (problem, facts) => log.warn(facts, problem),
  });
  const context: Context = {
    mesh,
    cache,
    clock,
    keys,
    version,
    startedMs,
    accounts,
    watch,
    tokenLists,
    holderTables: new HolderTables(clock),
    prices: pricesFrom(config.prices, {
      mesh,
      clock,
      ownFeeds: embedded?.priceFeeds,
      timeoutMs: config.upstream.timeoutMs,
      tip: () => ({ slot: cache.tip, slotTimeMs: pipeline.slotTimeMs }),
      onError: (source, err) => log.warn({ source, err }, 'a price source could not be asked'),
    }),
    calls: new Flight(),
    vitals: { isFailing: () => pipeline.failing.size > 0, slotTimeMs: () => pipeline.slotTimeMs },
    onMisread: firstOfKind((signature, err) => log.warn({ signature, err }, 'a transaction could not be understood')),
    isDraining: () => draining,
  };
  const answers = new Answers(context);
  const server = await listen({
    host: config.host,
    port: config.port,
    clock,
    context,
    answers,
    sealer,
    access,
    bodyBytes: config.limits.bodyBytes,
    document: JSON.stringify(openapi(routes, version)),
    verifyPage,
    stream: config.stream,
    onDefect: (requestId, err) => log.error({ requestId, err }, 'a request met a defect'),
  }).catch(async (thrown: unknown) => {
    access.close();
    await mesh.close();
    await embedded?.close();
    throw thrown;
  });

  let onWarm = (): void => {};
  const warm = new Promise<void>((resolve) => {
    onWarm = resolve;
    clock.after(WARM_UP_MS, resolve);
  });
  const pipeline = startPipeline({
    mesh,
    cache,
    clock,
    stream: randomBytes(8).toString('hex'),
    refresh: config.refresh,
    ...config.stream,
    isHealthy: () => isHealthy(context),
    onFrame(frame, snapshot) {
      if (frame.body !== undefined) server.publish(frame, snapshot);
      onWarm();
    },
    onError: (part, cause) => log.warn({ part, err: cause }, 'a read failed; the old answer goes on'),
  });
  const stopGuard = mesh.onTip('finalized', (slot) => guard.advance(slot));
  const letGoOfKey = await holdKey(receiptKeys, guard, { clock, random, log });
  await warm;

  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`,
    cluster: mesh.cluster,
    get publicKey() {
      return signer.publicKey;
    },
    get conflicts() {
      return guard.conflicts;
    },
    get signsAlone() {
      return guard.isAlone;
    },
    reload() {
      if (path === null) return log.info({}, 'the receipt key was given inline: there is nothing to read again');
      try {
        const { ring } = openReceiptKeys({ ...keySource, production: true }, clock.now()); // makes none
        if (keys.replace(ring)) sealer.sealAnew();
        log.info({ publicKey: signer.publicKey }, 'the receipt keys were read again');
      } catch (err) {
        log.error({ err }, 'the receipt keys can not be used; the old ones go on');
      }
    },
    async close() {
      if (draining) return;
      draining = true;
      server.drain();
      await idle(() => server.pending, clock, config.drainMs);
      pipeline.close();
      watch.keeping.close();
      tokenLists.keeping.close();
      stopGuard();
      server.close();
      letGoOfKey();
      access.close();
      await mesh.close();
      await embedded?.close();
    },
  };
}

/** Connects to the nodes of the configuration; where it names none, starts a cluster of its own and connects to that. */
async function connect(
  config: Config,
  { clock, random, log }: { readonly clock: Clock; readonly random: () => number; readonly log: Log },
): Promise<{ readonly mesh: Mesh; readonly embedded: EmbeddedCluster | undefined }> {
  const embedded = config.upstreams.length === 0 ? await startCluster(config) : undefined;
  const nodes: readonly NodeOptions[] = embedded ? [{ id: 'embedded', ...embedded }] : config.upstreams;
  try {
    const mesh = await connectMesh({
      nodes,
      clock,
      random,
      settings: config.upstream,
      expectedCluster: config.cluster,
      onProblem: (node, problem) => log.warn({ node }, problem),
    });
    return { mesh, embedded };
  } catch (thrown) {
    await embedded?.close();
    throw new StartError(1, GatewayError.from(thrown).message, thrown);
  }
}

const startCluster = ({ state, embedded }: Config): Promise<EmbeddedCluster> =>
  startEmbedded({ state, ...embedded, perSlot: embedded.transactionsPerSlot });

/** Lets the guard grant `exact` as soon as nobody else signs with the key. Returns what lets go of the key. */
async function holdKey(
  { path, isEphemeral }: ReceiptKeyRing,
  guard: Guard,
  { clock, random, log }: Surroundings,
): Promise<() => void> {
  if (isEphemeral) guard.signAlone();
  if (path !== null) {
    let hasWaited = false;
    return signAlone({
      path,
      clock,
      random,
      onAlone() {
        guard.signAlone();
        if (hasWaited) log.info({}, 'this process alone signs with the receipt key now');
      },
      onWaiting(err) {
        hasWaited = true;
        log.warn({ err }, 'another process may sign with the receipt key: until it ends nothing is signed as exact');
      },
    });
  }
  if (!isEphemeral) log.warn({}, 'a key that is given inline may sign elsewhere too: nothing is signed as exact');
  return () => {};
}

/** Resolves when nothing is under way any more, or after `ms` milliseconds. */
async function idle(pending: () => number, clock: Clock, ms: number): Promise<void> {
  const end = clock.monotonic() + ms;
  while (pending() > 0 && clock.monotonic() < end) await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
}

const POLL_MS = 20;
