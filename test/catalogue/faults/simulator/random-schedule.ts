import { generateKeyPairSync } from 'node:crypto';
import { Cache } from '../../../../src/cache/cache.ts';
import type { Entry } from '../../../../src/cache/entry.ts';
import { SingleFlight } from '../../../../src/cache/single-flight.ts';
import { COMMITMENTS } from '../../../../src/domain/commitment.ts';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
import { LiveAccountSource } from '../../../../src/live/accounts/live-account-source.ts';
import { doubleRead, type InitialSync } from '../../../../src/live/initial-sync.ts';
import { LiveTokenListSource } from '../../../../src/live/token-lists/live-token-list-source.ts';
import { createPriceLookup } from '../../../../src/prices/price-lookup.ts';
import { singleKeyRing } from '../../../../src/receipts/keys/key-history.ts';
import { ReceiptKeys } from '../../../../src/receipts/keys/receipt-keys.ts';
import { signingKeyOf } from '../../../../src/receipts/signing-key.ts';
import { balance } from '../../../../src/routes/balance.ts';
import { HolderTableCache } from '../../../../src/routes/holders/holder-table-cache.ts';
import { tokenAccounts } from '../../../../src/routes/token-accounts.ts';
import type { RouteContext } from '../../../../src/routing/route.ts';
import { type CachedRead, type ReadRequest, ReadThrough } from '../../../../src/serving/read-through.ts';
import { JumpGuard } from '../../../../src/upstream/mesh/jump-guard.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import { MeshTips } from '../../../../src/upstream/mesh/mesh-tips.ts';
import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';
import { AccountBatcher } from '../../../../src/upstream/reads/account-batcher.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { addressFromByte, tokenOwner } from '../../../support/token-account-fixtures.ts';
import { SimulatedLedger } from './simulated-ledger.ts';
import { SimulatedNode, type SimulatedSession } from './simulated-node.ts';
import { accountsAt, OWNERS } from './simulated-token-accounts.ts';

/** What came of one schedule, or of many. */
export interface ScheduleOutcome {
  /** Answers that were given. */
  readonly answers: number;
  /** Balances that came from what is kept live, at a slot beyond the one they were learned at. */
  readonly advanced: number;
  /** Token lists that are kept live: each is checked, since no other one claims to have been read whole at one slot. */
  readonly liveLists: number;
  /** Answers that the ledger contradicts. */
  readonly falseAnswers: number;
  /** Those of them that are token lists. */
  readonly falseLists: number;
  /** Those of an older slot than one given before. */
  readonly regressions: number;
  /** False claims that the gateway itself found out. */
  readonly detectedErrors: number;
  readonly lostLines: number;
  readonly refusals: number;
  /** Requests for what had been answered before and was forgotten since. */
  readonly evicted: number;
  /** Slots that a node told of and no ledger has. */
  readonly lies: number;
  /** Those of them that were believed. */
  readonly believed: number;
}

const ADDRESSES = [addressFromByte(21), addressFromByte(22), addressFromByte(23), addressFromByte(24)];
/** Bytes of the cache: room for all of them, or for hardly one. */
const CACHE_BYTES = [5000, 5000, 5000, 2000];
/** No time that passes in a schedule explains a step of so many slots. */
const FALSE_SLOT_JUMP = 1000;
/** So far the nodes of a pool may be apart, and a queue behind them: together what arming allows for. */
const MAX_POOL_LAG_SLOTS = 4;
const SETTINGS = { accounts: 3, lists: 2, maxListMembers: 3, idleSlots: 12, auditMs: 4000, maxAccountBytes: 1000 };

/** What takes the place of something that the claims rest on, to show that the checks can fail. */
export interface Weakness {
  readonly rule?: InitialSync;
  /** Whether both nodes are always behind one address. Default: in some schedules. */
  readonly pooled?: boolean;
  /** What token lists are watched over in place of a line. */
  readonly listLine?: (line: PubsubSession) => PubsubSession;
}

/** Runs the real cache, the real watch and the real answers through one random schedule of everything. */
export async function runSchedule(seed: number, steps: number, weakness: Weakness = {}): Promise<ScheduleOutcome> {
  const { rule = doubleRead, listLine = (randomSession) => randomSession } = weakness;
  const random = randomOf(seed);
  const clock = new ManualClock();
  const ledger = new SimulatedLedger(ADDRESSES, 0.02 + random() * 0.3);
  const places = 3 + Math.floor(random() * 9);
  const nodes = [new SimulatedNode(ledger, random, places), new SimulatedNode(ledger, random, places)] as const;
  const node = (): SimulatedNode => nodes[random() < 0.6 ? 0 : 1];
  const tips = new MeshTips();
  const guard = new JumpGuard({ clock, maxJump: 64, steadySlots: 8, silenceMs: 2000 });
  const pendingSessions: ((randomSession: PubsubSession) => void)[] = [];
  const mesh: Mesh = {
    genesisHash: 'simulated',
    apiVersion: '0',
    requestCount: 0,
    call: (method, params = []) => node().call(method, params),
    openSession: () => new Promise((resolve) => pendingSessions.push(resolve)),
    tip: (commitment) => tips.newest(commitment),
    onTip: (commitment, listener) => tips.onTip(commitment, listener),
    nodes: () => [],
    close: async () => {},
  };
  const cache = new Cache({
    clock,
    bytes: CACHE_BYTES[Math.floor(random() * CACHE_BYTES.length)] ?? 5000,
    maxStaleSlots: 150,
    hotKeys: 3,
  });
  const upstream = new AccountBatcher(mesh);
  const watching = { mesh, clock, settings: SETTINGS, initialSync: rule, onLeasesAdvanced: () => cache.advanceHot() };
  const liveAccounts = new LiveAccountSource({ ...watching, upstream });
  const meshOfLists: Mesh = { ...mesh, openSession: async () => listLine(await mesh.openSession()) };
  const tokenLists = new LiveTokenListSource({ ...watching, mesh: meshOfLists });
  const context: RouteContext = {
    mesh,
    cache,
    clock,
    accounts: upstream,
    liveAccounts,
    tokenLists,
    holderTables: new HolderTableCache(clock),
    prices: createPriceLookup([], { maxAgeSec: 60, onError: () => {} }),
    keys: new ReceiptKeys(singleKeyRing(signingKeyOf(generateKeyPairSync('ed25519').privateKey)), clock, () => {}),
    version: '',
    startedMs: 0,
    rpcFlights: new SingleFlight(),
    vitals: { isFailing: () => false, slotTimeMs: () => 400 },
    onDecodeError: () => {},
    isDraining: () => false,
  };
  const answers = new ReadThrough(context);
  for (const commitment of COMMITMENTS) {
    tips.onTip(commitment, () => liveAccounts.onTip(commitment));
    tips.onTip(commitment, () => tokenLists.onTip(commitment));
  }
  tips.onTip('processed', (slot) => {
    cache.advanceTip(slot);
    cache.refreshHot();
  });
  let [lies, believed] = [0, 0];
  /** A node tells of a slot, as its feed does. */
  const notifySlot = (index: 0 | 1, lie: number): void => {
    const slot = nodes[index].slot + lie;
    guard.observe(`${index}`, slot);
    if (guard.isAccepted(slot)) tips.observe('finalized', slot);
    if (lie > 0) lies++;
    if (lie > 0 && guard.isAccepted(slot)) believed++;
  };
  notifySlot(0, 0);

  const newest = new Map<string, Slot>();
  let [answerCount, advanced, falseBalances, regressions, refusals, evicted] = [0, 0, 0, 0, 0, 0];
  let [liveLists, falseLists] = [0, 0];
  const checkBalance = ({ slot, result, lease }: Entry, address: string): void => {
    if (lease !== undefined && slot > ledger.lastChangeSlot(address, slot)) advanced++;
    if (JSON.parse(result).lamports !== ledger.balance(address, slot)) falseBalances++;
  };
  const checkList = ({ slot, result, lease }: Entry, owner: string): void => {
    if (lease === undefined) return;
    liveLists++;
    const rows: { address: string; tokenAmount: { amount: string } }[] = JSON.parse(result);
    const listed = rows.map(({ address, tokenAmount }) => `${address} ${tokenAmount.amount}`).sort();
    const held = [...accountsAt(ledger, slot)].filter(([, account]) => tokenOwner(account) === owner);
    const recorded = held.map(([address, { lamports }]) => `${address} ${lamports}`).sort();
    if (listed.join() !== recorded.join()) falseLists++;
  };
  const request = (question: ReadRequest, name: string, check: (entry: Entry, name: string) => void): void => {
    const { key } = question;
    if (newest.has(key) && cache.peek(key) === undefined) evicted++;
    const accept = ({ entry }: CachedRead): void => {
      answerCount++;
      check(entry, name);
      if (entry.slot < (newest.get(key) ?? 0)) regressions++;
      newest.set(key, Math.max(entry.slot, newest.get(key) ?? 0));
    };
    const onRefused = (thrown: unknown): void => {
      if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') throw thrown;
      refusals++;
    };
    try {
      const served = answers.fromCache(question);
      if (served !== undefined) accept(served);
      else answers.fetch(question).then(accept, onRefused);
    } catch (thrown) {
      onRefused(thrown);
    }
  };
  const requestBalance = (addr: string, minSlot: Slot | undefined): void =>
    request({ route: balance, params: { addr, commitment: 'confirmed' }, key: addr, minSlot }, addr, checkBalance);
  const requestList = (owner: string, minSlot: Slot | undefined): void =>
    request(
      { route: tokenAccounts, params: { owner, commitment: 'finalized' }, key: owner, minSlot },
      owner,
      checkList,
    );

  const randomSession = (): SimulatedSession | undefined => {
    const lines = nodes.flatMap(({ sessions }) => [...sessions]);
    return lines[Math.floor(random() * lines.length)];
  };
  const pick = (addresses: readonly string[]): string => addresses[Math.floor(random() * addresses.length)] ?? '';
  // Some schedules have a queue that keeps up, some one that doesn't; in some a connection holds, in some hardly ever;
  // some are about balances, some about lists; in some both nodes are behind one address.
  const [notificationRate, lossRate, skew, isLiar, listed] = [
    random() ** 2,
    random() ** 3 * 0.01,
    random(),
    random() < 0.5,
    random(),
  ];
  const isPool = random() < (weakness.pooled ? 1 : 0.4);
  const burst = 1 + Math.floor(random() * 6);
  const repeat = (work: () => void): void => {
    for (let i = 0; i < burst; i++) work();
  };
  const open = (notifyingNode: SimulatedNode): void =>
    pendingSessions.shift()?.(
      notifyingNode.open(isPool ? nodes.find((other) => other !== notifyingNode) : notifyingNode),
    );
  const advance = (node: SimulatedNode): void => {
    const behind = nodes.find(({ slot }) => node.next - slot > MAX_POOL_LAG_SLOTS);
    if (isPool && behind !== undefined) advance(behind);
    else if (isPool && node.next - node.notifiedSlot > MAX_POOL_LAG_SLOTS) node.notifyNext();
    else node.advance();
  };
  for (let step = 0; step < steps; step++) {
    const x = random();
    if (x < 0.03) {
      ledger.addSlot(random);
      clock.advance(random() * 800);
      cache.tick();
    } else if (x < 0.2) advance(nodes[random() < skew ? 0 : 1]);
    else if (x < 0.24) notifySlot(random() < 0.5 ? 0 : 1, 0);
    else if (x < 0.25) notifySlot(1, isLiar ? FALSE_SLOT_JUMP + Math.floor(random() * 10 * FALSE_SLOT_JUMP) : 0);
    else if (x < 0.25 + notificationRate * 0.1) repeat(() => node().notifyNext());
    else if (x < 0.6) repeat(() => randomSession()?.deliver());
    else if (x < 0.86) repeat(() => node().serve());
    else if (x < 0.88) open(node());
    else if (x < 0.88 + lossRate) randomSession()?.close();
    else {
      const minSlot = random() < 0.05 ? cache.tip + Math.floor(random() * 3) : undefined;
      if (random() < listed) requestList(pick(OWNERS), minSlot);
      else requestBalance(pick(ADDRESSES), minSlot);
    }
    if (random() < 0.7) await new Promise((resolve) => setImmediate(resolve)); // else more happens at a time
  }
  liveAccounts.close();
  tokenLists.close();
  return {
    answers: answerCount,
    advanced,
    liveLists,
    falseAnswers: falseBalances + falseLists,
    falseLists,
    regressions,
    refusals,
    detectedErrors: liveAccounts.stats.leaseViolations + tokenLists.stats.leaseViolations,
    lostLines: liveAccounts.stats.lostSessions + tokenLists.stats.lostSessions,
    evicted,
    lies,
    believed,
  };
}

/** Runs many schedules and adds up what came of them. */
export async function runSchedules(
  from: number,
  to: number,
  steps: number,
  weakness?: Weakness,
): Promise<ScheduleOutcome> {
  let sum = await runSchedule(from, steps, weakness);
  for (let seed = from + 1; seed < to; seed++) {
    const one = await runSchedule(seed, steps, weakness);
    const names = Object.keys(sum) as (keyof ScheduleOutcome)[]; // what an outcome is made of
    sum = Object.fromEntries(names.map((name) => [name, sum[name] + one[name]])) as Record<
      keyof ScheduleOutcome,
      number
    >;
  }
  return sum;
}

/** mulberry32: the same numbers for the same seed, everywhere. */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
