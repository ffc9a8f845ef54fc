import { randomBytes } from 'node:crypto';
import { openAccess } from './access/open-access.ts';
import { Cache } from './cache/cache.ts';
import type { Config } from './config/config-schema.ts';
import type { Clock } from './domain/clock.ts';
import { createOpenApiDocument } from './http/rest/openapi.ts';
import { listen } from './http/server.ts';
import { LiveAccountSource } from './live/accounts/live-account-source.ts';
import { LiveTokenListSource } from './live/token-lists/live-token-list-source.ts';
import { loadPage } from './page/static-page.ts';
import { startPipeline } from './pipeline/pipeline.ts';
import { configuredPrices } from './prices/configured-prices.ts';
import { EquivocationGuard } from './receipts/equivocation-guard.ts';
import { holdSigningLock } from './receipts/keys/hold-signing-lock.ts';
import type { KeySource } from './receipts/keys/key-source.ts';
import { loadReceiptKeys } from './receipts/keys/load-keys.ts';
import { ReceiptKeys } from './receipts/keys/receipt-keys.ts';
import { Signer } from './receipts/signer.ts';
import { isStrongSignature } from './receipts/verify/ed25519-signature.ts';
import { isHealthy } from './routes/health.ts';
import { HolderTableCache } from './routes/holders/holder-table-cache.ts';
import { routes } from './routes/index.ts';
import { readMintBalance } from './routes/mint-balance.ts';
import { createRpcReadThrough } from './routes/rpc/answer-rpc-call.ts';
import type { RouteContext } from './routing/route.ts';
import { RouteReadThrough } from './routing/route-read-through.ts';
import { DisposalStack } from './runtime/disposal-stack.ts';
import type { Log } from './runtime/log.ts';
import { oncePerErrorSite } from './runtime/log-once.ts';
import { version } from './runtime/package.ts';
import { systemClock } from './runtime/system-clock.ts';
import { Sealer } from './serving/sealer.ts';
import { AccountBatcher } from './upstream/reads/account-batcher.ts';
import { connectUpstream } from './wiring/connect-upstream.ts';

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

/** How long the start waits for the first frame, so that the first caller gets an answer. */
const MAX_WARM_UP_MS = 5000;

/** Wires the layers together and opens the door. The only file that knows them all. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const disposals = new DisposalStack();
  try {
    return await openGateway(options, disposals);
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {}); // why it didn't open is what counts
    throw thrown;
  }
}

async function openGateway(options: GatewayOptions, disposals: DisposalStack): Promise<Gateway> {
  const { config, log, receiptKey, clock = systemClock, random = Math.random } = options;
  const startedMs = clock.monotonic();
  const keySource: KeySource = { production: false, ...receiptKey, stateDir: config.state };
  const receiptKeys = loadReceiptKeys(keySource, clock.now());
  const { ring, path: keyPath, created, warning } = receiptKeys;
  const keys = new ReceiptKeys(ring, clock, ({ publicKey, kid }) =>
    log.info({ publicKey, kid }, 'another receipt key signs'),
  );
  const verifyPage = await loadPage('verify');
  const access = openAccess({
    ...config,
    waitMs: config.upstream.timeoutMs,
    clock,
    random,
    verifySignature: isStrongSignature,
    readMintBalance: (wallet, mint) => readMintBalance(readThrough, wallet, mint), // asked by requests alone
    onProblem: (problem, err) => log.warn({ err }, problem),
  });
  disposals.defer(() => access.close());
  const { mesh, embedded } = await connectUpstream(config, { clock, random, log }, disposals);

  let draining = false;
  const cache = new Cache({ ...config.cache, clock, hotKeys: config.refresh.hotKeys });
  const guard = new EquivocationGuard((conflict) => log.error(conflict, 'two results for one finalized slot'));
  const signer = new Signer(keys, mesh.genesisHash, guard);
  const sealer = new Sealer({ ...config.cache, cache, signer, clock });
  if (warning !== null) log.warn({}, warning);
  if (created) log.info({ publicKey: signer.publicKey, path: keyPath }, 'receipt key created');

  const upstream = new AccountBatcher(mesh);
  const liveOptions = {
    mesh,
    clock,
    settings: config.watch,
    onLeasesAdvanced: () => cache.advanceHot(),
    onProblem: (problem: string, facts: object) => log.warn(facts, problem),
  };
  const liveAccounts = new LiveAccountSource({ ...liveOptions, upstream });
  const tokenLists = new LiveTokenListSource(liveOptions);
  const context: RouteContext = {
    mesh,
    cache,
    clock,
    keys,
    version,
    startedMs,
    accounts: upstream,
    liveAccounts,
    tokenLists,
    holderTables: new HolderTableCache(clock),
    prices: configuredPrices(config.prices, {
      mesh,
      clock,
      clusterFeeds: embedded?.priceFeeds,
      timeoutMs: config.upstream.timeoutMs,
      tip: () => ({ slot: cache.tip, slotTimeMs: pipeline.slotTimeMs }),
      onError: (source, err) => log.warn({ source, err }, 'a price source could not be asked'),
    }),
    rpcReadThrough: createRpcReadThrough({ cache, mesh, clock }),
    vitals: { isFailing: () => pipeline.failingParts.size > 0, slotTimeMs: () => pipeline.slotTimeMs },
    onDecodeError: oncePerErrorSite((signature, err) =>
      log.warn({ signature, err }, 'a transaction could not be understood'),
    ),
    isDraining: () => draining,
  };
  const readThrough = new RouteReadThrough(context);
  const releaseSigningLock = await holdSigningLock({
    keys: receiptKeys,
    guard,
    clock,
    random,
    onExactWithheld: (doubt, err) => log.warn({ err }, doubt),
    onExactGranted: () => log.info({}, 'this process alone signs with the receipt key now'),
  });
  disposals.defer(releaseSigningLock);
  const server = await listen({
    host: config.host,
    port: config.port,
    clock,
    context,
    readThrough,
    sealer,
    access,
    maxBodyBytes: config.limits.bodyBytes,
    openApiDocument: JSON.stringify(createOpenApiDocument(routes, version)),
    verifyPage,
    stream: config.stream,
    onInternalError: (requestId, err) => log.error({ requestId, err }, 'a request met a defect'),
  });
  disposals.defer(() => server.close());
  disposals.defer(() => tokenLists.close());
  disposals.defer(() => liveAccounts.close());

  let onWarm = (): void => {};
  const warm = new Promise<void>((resolve) => {
    onWarm = resolve;
    clock.after(MAX_WARM_UP_MS, resolve);
  });
  const pipeline = startPipeline({
    mesh,
    cache,
    clock,
    liveSources: [liveAccounts, tokenLists],
    equivocationGuard: guard,
    streamId: randomBytes(8).toString('hex'),
    refresh: config.refresh,
    ...config.stream,
    isHealthy: () => isHealthy(context),
    onFrame(frame, snapshot) {
      if (frame.body !== undefined) server.publish(frame, snapshot);
      onWarm();
    },
    onError: (part, cause) => log.warn({ part, err: cause }, 'a read failed; the old answer goes on'),
  });
  disposals.defer(() => pipeline.close());
  await warm;
  disposals.defer(async () => {
    draining = true;
    server.drain();
    await waitUntilIdle(() => server.pendingResponses, clock, config.drainMs);
  });

  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`,
    cluster: mesh.genesisHash,
    get publicKey() {
      return signer.publicKey;
    },
    get conflicts() {
      return guard.conflicts;
    },
    get signsAlone() {
      return guard.isSoleSigner;
    },
    reload() {
      if (keyPath === null) return log.info({}, 'the receipt key was given inline: there is nothing to read again');
      try {
        const { ring } = loadReceiptKeys({ ...keySource, production: true }, clock.now()); // makes none
        if (keys.replace(ring)) sealer.invalidateReceipts();
        log.info({ publicKey: signer.publicKey }, 'the receipt keys were read again');
      } catch (err) {
        log.error({ err }, 'the receipt keys can not be used; the old ones go on');
      }
    },
    close: () => disposals.disposeAsync(),
  };
}

/** Resolves when nothing is under way any more, or after `ms` milliseconds. */
async function waitUntilIdle(pending: () => number, clock: Clock, ms: number): Promise<void> {
  const deadlineMs = clock.monotonic() + ms;
  while (pending() > 0 && clock.monotonic() < deadlineMs)
    await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
}

const POLL_MS = 20;
