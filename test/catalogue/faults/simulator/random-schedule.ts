import { generateKeyPairSync } from 'node:crypto';
import { Cache } from '../../../../src/gateway/cache/cache.ts';
import { LiveAccountSource } from '../../../../src/gateway/live/accounts/live-account-source.ts';
import { doubleRead, type InitialSync } from '../../../../src/gateway/live/initial-sync.ts';
import { LiveTokenListSource } from '../../../../src/gateway/live/token-lists/live-token-list-source.ts';
import { NetworkHistory } from '../../../../src/gateway/network-history/network-history.ts';
import { createPriceLookup } from '../../../../src/gateway/prices/price-lookup.ts';
import { singleKeyRing } from '../../../../src/gateway/receipts/keys/key-history.ts';
import { ReceiptKeys } from '../../../../src/gateway/receipts/keys/receipt-keys.ts';
import { signingKeyOf } from '../../../../src/gateway/receipts/signing-key.ts';
import { balance } from '../../../../src/gateway/routes/balance.ts';
import { balances } from '../../../../src/gateway/routes/balances.ts';
import { PooledDecoder } from '../../../../src/gateway/routes/decoding/pooled-decoder.ts';
import { portfolio } from '../../../../src/gateway/routes/portfolio/portfolio.ts';
import { STAKE_TABLES } from '../../../../src/gateway/routes/portfolio/stake-table.ts';
import { createBlockListings } from '../../../../src/gateway/routes/routing/block-listings.ts';
import type { LiveAccounts, RouteContext } from '../../../../src/gateway/routes/routing/route.ts';
import { type ReadRequest, RouteReadThrough } from '../../../../src/gateway/routes/routing/route-read-through.ts';
import { SeenBlocks } from '../../../../src/gateway/routes/routing/seen-blocks.ts';
import { createRpcReadThrough } from '../../../../src/gateway/routes/rpc/answer-rpc-call.ts';
import { createHolderTabler, HOLDER_TABLES } from '../../../../src/gateway/routes/scans/holder-table.ts';
import { ScanGate } from '../../../../src/gateway/routes/scans/scan-gate.ts';
import { ScanTables } from '../../../../src/gateway/routes/scans/scan-tables.ts';
import { tokenAccounts } from '../../../../src/gateway/routes/token-accounts.ts';
import type { CachedRead } from '../../../../src/gateway/serving/read-through.ts';
import { createKnownMints } from '../../../../src/gateway/tokens/known-mint-names.ts';
import { readOwnerListing } from '../../../../src/gateway/tokens/owner-listing.ts';
import { TokenLabelCache } from '../../../../src/gateway/tokens/token-labels.ts';
import { JumpGuard } from '../../../../src/gateway/upstream/mesh/jump-guard.ts';
import type { Mesh } from '../../../../src/gateway/upstream/mesh/mesh.ts';
import { MeshTips } from '../../../../src/gateway/upstream/mesh/mesh-tips.ts';
import type { PubsubSession } from '../../../../src/gateway/upstream/pubsub/pubsub-session.ts';
import { AccountBatcher } from '../../../../src/gateway/upstream/reads/account-batcher.ts';
import { MergedSignatures } from '../../../../src/gateway/upstream/reads/merged-signatures.ts';
import { ProgramIdlCache } from '../../../../src/gateway/upstream/reads/program-idls.ts';
import { TransactionRecords } from '../../../../src/gateway/upstream/reads/transaction-records.ts';
import { seededRng } from '../../../../src/localnet/traffic/seeded-rng.ts';
import { API_PREFIX } from '../../../../src/shared/domain/canonical-request.ts';
import { COMMITMENTS } from '../../../../src/shared/domain/commitment.ts';
import { GatewayError } from '../../../../src/shared/domain/gateway-error.ts';
import type { LeaseSource } from '../../../../src/shared/domain/lease.ts';
import type { Slot } from '../../../../src/shared/domain/slot.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SLOT_TIMES } from '../../../support/slot-times.ts';
import { addressFromByte } from '../../../support/token-account-fixtures.ts';
import { AnswerChecks, type AnswerCounts } from './answer-checks.ts';
import { SimulatedLedger } from './simulated-ledger.ts';
import { SimulatedNode, type SimulatedSession } from './simulated-node.ts';
import { METADATA, OWNERS } from './simulated-token-accounts.ts';

/** Counts of one schedule, or the sums of many. */
export interface ScheduleOutcome extends AnswerCounts {
  readonly answers: number;
  /** Answers with an older slot than an earlier one. */
  readonly regressions: number;
  /** Violated leases that the gateway itself detected. */
  readonly detectedErrors: number;
  readonly lostSessions: number;
  readonly refusals: number;
  /** Requests for keys that were answered before and evicted since. */
  readonly evicted: number;
  /** Reported slots that the ledger does not have. */
  readonly falseSlots: number;
  /** Reported slots of these that the gateway accepted. */
  readonly acceptedFalseSlots: number;
}

const ADDRESSES = [addressFromByte(21), addressFromByte(22), addressFromByte(23), addressFromByte(24)];
/** Sizes of the cache: for all keys, or for hardly one. */
const CACHE_BYTES = [5000, 5000, 5000, 2000];
/** Slots of a jump that no elapsed time explains. */
const FALSE_SLOT_JUMP = 1000;
/** Maximum lag of a node of a pool, and of the queue behind it, in milliseconds: within the margin of the initial sync. */
const MAX_POOL_LAG_MS = 1600;
const SETTINGS = {
  accounts: 4,
  lists: 2,
  callerShare: 1,
  idleMs: 6400,
  auditMs: 4000,
  requestsPerSecond: 100,
  maxAccountBytes: 1000,
};

/** Conditions in which schedules differ. Rates and shares are from 0 to 1. */
interface Conditions {
  /** Probability that an account changes in a slot. */
  readonly changeProbability: number;
  /** Subscriptions that a connection has room for. */
  readonly places: number;
  readonly maxListMembers: number;
  /** Low where the notification queue of a node lags. */
  readonly notificationRate: number;
  readonly lossRate: number;
  /** Share of the banks of which a node notifies nothing. */
  readonly gapRate: number;
  /** Share of the requests that are for lists and portfolios. */
  readonly listShare: number;
  readonly slotMs: number;
}

/** What is requested, and a weakened part of the live data, to show that the checks can fail. */
export interface ScheduleOptions {
  /** Whether several balances are requested in one answer, too. */
  readonly batches?: boolean;
  /** Conditions that all schedules share, so that a control fails often in little time. */
  readonly conditions?: Partial<Conditions>;
  readonly rule?: InitialSync;
  /** Whether both nodes are always behind one address. Default: in some schedules. */
  readonly pooled?: boolean;
  /** Replacement for the live accounts that routes read. */
  readonly liveAccounts?: (liveAccounts: LiveAccounts) => LiveAccounts;
  /** Replacement for the sessions of token lists. */
  readonly listSession?: (session: PubsubSession) => PubsubSession;
}

/** Runs the real cache, live data and read-through in one random schedule. */
export async function runSchedule(
  seed: number,
  steps: number,
  options: ScheduleOptions = {},
): Promise<ScheduleOutcome> {
  const { rule = doubleRead, liveAccounts: weaken = (source) => source, listSession = (session) => session } = options;
  const { intBelow } = seededRng(seed);
  const random = (): number => intBelow(2 ** 32) / 2 ** 32;
  const clock = new ManualClock();
  // Schedules differ: the notification queue keeps up or lags; connections hold or break often; requests are mostly for
  // balances or for lists; the nodes may be behind one address.
  const {
    changeProbability,
    places,
    maxListMembers,
    notificationRate,
    lossRate,
    gapRate,
    listShare,
    slotMs,
  }: Conditions = {
    changeProbability: 0.01 + random() ** 2 * 0.2,
    places: 4 + Math.floor(random() * 14),
    maxListMembers: 2 + Math.floor(random() * 4),
    notificationRate: random() ** 2,
    lossRate: random() ** 3 * 0.01,
    gapRate: random() < 0.3 ? random() * 0.3 : 0,
    listShare: random(),
    slotMs: SLOT_TIMES[seed % SLOT_TIMES.length] ?? 400,
    ...options.conditions,
  };
  const ledger = new SimulatedLedger([...ADDRESSES, ...OWNERS, METADATA], changeProbability);
  const nodes = [new SimulatedNode(ledger, random, places), new SimulatedNode(ledger, random, places)] as const;
  const node = (): SimulatedNode => nodes[random() < 0.6 ? 0 : 1];
  const tips = new MeshTips();
  const guard = new JumpGuard({ clock, maxSlotJump: 64, recoverySlots: 8, idleTimeoutMs: 2000 });
  const maxPoolLagSlots = Math.floor(MAX_POOL_LAG_MS / slotMs);
  const pendingSessions: ((session: PubsubSession) => void)[] = [];
  const mesh: Mesh = {
    genesisHash: 'simulated',
    apiVersion: '0',
    connect: async () => 'simulated',
    call: (method, params = []) => node().call(method, params),
    openSession: () => new Promise((resolve) => pendingSessions.push(resolve)),
    tip: (commitment) => tips.newest(commitment),
    acceptsSlot: () => true,
    onTip: (commitment, listener) => tips.onTip(commitment, listener),
    get slotTimeMs() {
      return guard.slotTimeMs;
    },
    nodes: () => [],
    figures: () => [],
    close: async () => {},
  };
  const cache = new Cache({
    clock,
    bytes: CACHE_BYTES[Math.floor(random() * CACHE_BYTES.length)] ?? 5000,
    maxStaleMs: 60_000,
    hotKeys: 3,
  });
  const upstream = new AccountBatcher(mesh, { clock, tip: (commitment) => tips.newest(commitment) });
  const watching = {
    mesh,
    clock,
    random: () => 0.5, // what is remembered of keys does not change the schedule
    settings: { ...SETTINGS, maxListMembers },
    initialSync: rule,
    onLeasesAdvanced: (source: LeaseSource) => cache.advanceHot(source),
  };
  const liveAccounts = new LiveAccountSource({ ...watching, upstream });
  const meshOfLists: Mesh = { ...mesh, openSession: async () => listSession(await mesh.openSession()) };
  const tokenLists = new LiveTokenListSource({ ...watching, mesh: meshOfLists });
  const scans = { clock, gate: new ScanGate(clock) };
  const knownMints = createKnownMints({});
  const context: RouteContext = {
    mesh,
    rpcProfile: 'strict',
    geyser: () => null,
    callsFor: () => mesh,
    cache,
    operators: undefined,
    clock,
    accounts: upstream,
    liveAccounts: weaken(liveAccounts),
    pastAccounts: { read: () => Promise.reject(new Error('no schedule reads the past')) },
    pastTokenLists: { read: () => Promise.reject(new Error('no schedule reads the past')) },
    tokenLists,
    listOwner: readOwnerListing,
    mergedSignatures: new MergedSignatures(),
    networkHistory: new NetworkHistory(clock),
    holderTabler: createHolderTabler(clock),
    holderTables: new ScanTables({ ...scans, ...HOLDER_TABLES }),
    stakeTables: new ScanTables({ ...scans, ...STAKE_TABLES }),
    knownMints,
    tokenLabels: new TokenLabelCache(clock, knownMints),
    programIdls: new ProgramIdlCache(clock),
    seenBlocks: new SeenBlocks(),
    blockListings: createBlockListings(clock),
    decoder: new PooledDecoder(clock),
    transactionRecords: new TransactionRecords(mesh, 100_000),
    prices: createPriceLookup(new Map(), { clock, maxAgeSec: 60, maxStaleSec: 60 }),
    keys: new ReceiptKeys(singleKeyRing(signingKeyOf(generateKeyPairSync('ed25519').privateKey)), clock, () => {}),
    engine: { name: 'none', version: '0' },
    version: '',
    startedMs: 0,
    embedded: null,
    rpcReadThrough: createRpcReadThrough({ cache, mesh, clock, admitOwn: (work) => work.start(() => {}) }),
    vitals: { isFailing: false },
    onDecodeError: () => {},
    startupProblem: () => undefined,
    problems: () => [],
    isLeaving: () => false,
    isDraining: () => false,
  };
  const answers = new RouteReadThrough(context, (work) => work.start(() => {}));
  for (const commitment of COMMITMENTS) {
    tips.onTip(commitment, () => liveAccounts.liveSet.onTip(commitment));
    tips.onTip(commitment, () => tokenLists.liveSet.onTip(commitment));
  }
  tips.onTip('processed', (slot) => {
    cache.advanceTip(slot);
    cache.refreshHot(400);
  });
  let [falseSlots, acceptedFalseSlots] = [0, 0];
  /** A node reports a slot, as its feed does. */
  const notifySlot = (index: 0 | 1, error: number): void => {
    const slot = nodes[index].slot + error;
    guard.observe(`${index}`, slot);
    if (guard.isAccepted(slot)) tips.observe('finalized', slot);
    if (error > 0) falseSlots++;
    if (error > 0 && guard.isAccepted(slot)) acceptedFalseSlots++;
  };
  notifySlot(0, 0);

  const newest = new Map<string, Slot>();
  let [answerCount, regressions, refusals, evicted] = [0, 0, 0, 0];
  const checks = new AnswerChecks(ledger);
  const request = (question: ReadRequest, name: string, check: 'balance' | 'batch' | 'list' | 'portfolio'): void => {
    const { key } = question;
    if (newest.has(key) && cache.peek(key) === undefined) evicted++;
    const accept = ({ entry }: CachedRead): void => {
      answerCount++;
      checks[check](entry, name);
      if (entry.slot < (newest.get(key) ?? 0)) regressions++;
      newest.set(key, Math.max(entry.slot, newest.get(key) ?? 0));
    };
    const onRefused = (thrown: unknown): void => {
      if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') throw thrown;
      refusals++;
    };
    try {
      const served = answers.begin(question, { resolve: accept, reject: onRefused });
      if (served !== undefined) accept(served);
    } catch (thrown) {
      onRefused(thrown);
    }
  };
  const requestBalance = (addr: string, minSlot: Slot | undefined): void => {
    const key = `${API_PREFIX}/balance/${addr}`;
    request({ route: balance, params: { addr, commitment: 'confirmed' }, key, minSlot }, addr, 'balance');
  };
  const requestBatch = (addresses: readonly string[], minSlot: Slot | undefined): void => {
    const key = `${API_PREFIX}/balances?addresses=${addresses.join('%2C')}`;
    request({ route: balances, params: { addresses, commitment: 'confirmed' }, key, minSlot }, key, 'batch');
  };
  const requestList = (owner: string, minSlot: Slot | undefined): void => {
    const key = `${API_PREFIX}/token-accounts/${owner}?commitment=finalized`;
    request({ route: tokenAccounts, params: { owner, commitment: 'finalized' }, key, minSlot }, owner, 'list');
  };
  const requestPortfolio = (addr: string, minSlot: Slot | undefined): void => {
    const key = `${API_PREFIX}/address/${addr}/portfolio?commitment=finalized`;
    request({ route: portfolio, params: { addr, commitment: 'finalized' }, key, minSlot }, addr, 'portfolio');
  };

  const randomSession = (): SimulatedSession | undefined => {
    const sessions = nodes.flatMap(({ sessions }) => [...sessions]);
    return sessions[Math.floor(random() * sessions.length)];
  };
  const pick = (addresses: readonly string[]): string => addresses[Math.floor(random() * addresses.length)] ?? '';
  /** Picks two addresses of which others are in other batches, or all. */
  const pickSeveral = (addresses: readonly string[]): readonly string[] => {
    const first = Math.floor(random() * addresses.length);
    return random() < 0.2 ? addresses : [first, first + 1].map((i) => addresses[i % addresses.length] ?? '');
  };
  const requestAny = (): void => {
    const minSlot = random() < 0.05 ? cache.tip + Math.floor(random() * 3) : undefined;
    if (random() < listShare) (random() < 0.5 ? requestList : requestPortfolio)(pick(OWNERS), minSlot);
    else if (options.batches && random() < 0.7) requestBatch(pickSeveral(ADDRESSES), minSlot);
    else requestBalance(pick(ADDRESSES), minSlot);
  };
  const [skew, isLiar] = [random(), random() < 0.5];
  const isPool = random() < (options.pooled ? 1 : 0.4);
  const burst = 1 + Math.floor(random() * 6);
  const repeat = (work: () => void): void => {
    for (let i = 0; i < burst; i++) work();
  };
  const open = (notifyingNode: SimulatedNode): void =>
    pendingSessions.shift()?.(
      notifyingNode.open(isPool ? nodes.find((other) => other !== notifyingNode) : notifyingNode),
    );
  const advance = (node: SimulatedNode): void => {
    const behind = nodes.find(({ slot }) => node.next - slot > maxPoolLagSlots);
    if (isPool && behind !== undefined) advance(behind);
    else if (isPool && node.next - node.notifiedSlot > maxPoolLagSlots) node.notifyNext();
    else node.advance();
  };
  /** What may happen in a step, each below a number from 0 to 1 and not below the one before. */
  const actions: readonly (readonly [below: number, act: () => void])[] = [
    [
      0.03,
      () => {
        ledger.addSlot(random);
        clock.advance(random() * 2 * slotMs);
        cache.tick();
      },
    ],
    [0.2, () => advance(nodes[random() < skew ? 0 : 1])],
    [0.24, () => notifySlot(random() < 0.5 ? 0 : 1, 0)],
    [0.25, () => notifySlot(1, isLiar ? FALSE_SLOT_JUMP + Math.floor(random() * 10 * FALSE_SLOT_JUMP) : 0)],
    [0.25 + notificationRate * 0.1, () => repeat(() => node().notifyNext(random() < gapRate))],
    [0.6, () => repeat(() => randomSession()?.deliver())],
    [0.86, () => repeat(() => node().serve())],
    [0.88, () => open(node())],
    [0.88 + lossRate, () => randomSession()?.close()],
    [1, () => requestAny()],
  ];
  for (let step = 0; step < steps; step++) {
    const x = random();
    actions.find(([below]) => x < below)?.[1]();
    if (random() < 0.7) await new Promise((resolve) => setImmediate(resolve)); // otherwise several things happen in one turn
  }
  liveAccounts.liveSet.close();
  tokenLists.liveSet.close();
  return {
    ...checks.counts,
    answers: answerCount,
    regressions,
    refusals,
    detectedErrors: liveAccounts.liveSet.leaseViolations + tokenLists.liveSet.leaseViolations,
    lostSessions: liveAccounts.liveSet.lostSessions + tokenLists.liveSet.lostSessions,
    evicted,
    falseSlots,
    acceptedFalseSlots,
  };
}

/** Runs many schedules and adds up their counts. */
export async function runSchedules(
  from: number,
  to: number,
  steps: number,
  options?: ScheduleOptions,
): Promise<ScheduleOutcome> {
  let sum = await runSchedule(from, steps, options);
  for (let seed = from + 1; seed < to; seed++) {
    const one = await runSchedule(seed, steps, options);
    const names = Object.keys(sum) as (keyof ScheduleOutcome)[]; // the members of an outcome
    sum = Object.fromEntries(names.map((name) => [name, sum[name] + one[name]])) as Record<
      keyof ScheduleOutcome,
      number
    >;
  }
  return sum;
}
