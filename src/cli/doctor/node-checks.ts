import type { Config } from '../../config/config-schema.ts';
import type { ConfiguredOperators } from '../../config/operators.ts';
import { AGAVE, agaveErrorOf, PROCESSED_REFUSED, profileOfVersion } from '../../gateway/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { READ_METHODS } from '../../shared/domain/rpc-methods.ts';
import { CLOCK_SYSVAR, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { mapConcurrently } from '../../shared/runtime/map-concurrently.ts';
import { checkFeed } from './feed-checks.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { NO_ANSWER_IN_TIME, type NodeProbe, type RpcAnswer } from './node-probe.ts';

type NodeConfig = Config['upstreams'][number];

export interface NodeReport {
  readonly id: string;
  readonly findings: readonly Finding[];
  readonly genesis: string | undefined;
  readonly slot: number | undefined;
  readonly clockLeadMs: number | undefined;
}

export interface NodeCheckOptions {
  /** The genesis hash that the configuration wants; null for any. */
  readonly expected: string | null;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxFeedBytes: number;
  onCheck(what: string): void;
}

/** Checks one node, and its feed. Never rejects. */
export async function checkNode(
  node: NodeConfig,
  probe: NodeProbe,
  { expected, clock, timeoutMs, maxFeedBytes: maxBytes, onCheck }: NodeCheckOptions,
): Promise<NodeReport> {
  const findings: Finding[] = [];
  const nameOf = (what: string): string => `${node.id} ${what}`;
  const add = (finding: Finding): void => {
    findings.push(finding);
    onCheck(finding.name);
  };
  const attempt = async (what: string, fix: string, check: (name: string) => Promise<Finding>): Promise<void> => {
    const name = nameOf(what);
    add(await check(name).catch((thrown: unknown) => failureOf(name, thrown, fix)));
  };

  let first: RpcAnswer;
  try {
    first = await probe.call('getGenesisHash');
  } catch (thrown) {
    add(failureOf(nameOf('HTTP'), thrown, 'check the URL and its key, and that this machine may reach it'));
    return { id: node.id, findings, genesis: undefined, slot: undefined, clockLeadMs: undefined };
  }
  const genesis = typeof first.result === 'string' ? first.result : undefined;
  add(checkGenesis(nameOf('cluster'), genesis, expected));
  const feed = node.geyser && checkFeed(nameOf, node.geyser, { probe, clock, timeoutMs, maxBytes }); // it takes some blocks

  let server = AGAVE;
  await attempt('version', 'see whether it is a Solana node', async (name) => {
    const { result, error } = await probe.call('getVersion');
    const version = Object(result)['solana-core'];
    if (typeof version !== 'string') return warn(name, describeError(error), 'allow getVersion');
    server = profileOfVersion(version);
    return ok(name, `${server.name} ${version}`);
  });
  const tips = await readTips(probe);
  add(checkTips(nameOf('slots'), tips));
  add(await checkReads(nameOf('reads'), probe, node.pooled === true));
  await attempt('methods', 'retry; if it stays, ask the provider', (name) => checkMethods(name, node, probe, tips));
  await attempt('oldest block', 'retry; if it stays, ask the provider', (name) => checkLedger(name, node, probe));
  if (server.notifiedSlots.length > 0) await checkWebSocket(nameOf, probe, add);
  else add(ok(nameOf('WebSocket'), `${server.name} has none: its slots are polled`));
  for (const finding of (await feed) ?? []) add(finding);
  return { id: node.id, findings, genesis, slot: tips.processed, clockLeadMs: first.clockLeadMs };
}

/** What is slow is not wrong by that: its fix is another one. */
function failureOf(name: string, thrown: unknown, fix: string): Finding {
  const reason = reasonOf(thrown);
  const nearer = 'choose a node that is nearer or less busy, or raise --timeout';
  return reason === NO_ANSWER_IN_TIME
    ? fail(name, 'it answers too slowly, or not at all', nearer)
    : fail(name, reason, fix);
}

function checkGenesis(name: string, genesis: string | undefined, expected: string | null): Finding {
  if (genesis === undefined) return fail(name, 'it returns no genesis hash', 'see whether it is a Solana node');
  const known = CLUSTER_NAMES[genesis];
  const found = known === undefined ? genesis : `${known} ${genesis}`;
  if (expected === null || expected === genesis) return ok(name, found);
  const fix = 'name a node of that cluster, or change the setting';
  return fail(name, `${found}, but the setting cluster is ${expected}`, fix);
}

type Tips = Readonly<Record<'processed' | 'confirmed' | 'finalized', number | undefined>>;

async function readTips(probe: NodeProbe): Promise<Tips> {
  const slotAt = async (commitment: keyof Tips): Promise<number | undefined> => {
    const { result, error } = await probe
      .call('getSlot', [{ commitment }])
      .catch(() => ({ result: undefined, error: undefined }));
    const isRefused = error !== undefined && agaveErrorOf(error.code, error.message)?.cause === PROCESSED_REFUSED;
    if (isRefused && commitment === 'processed') return slotAt('confirmed'); // as the mesh does
    return typeof result === 'number' ? result : undefined;
  };
  const commitments = ['processed', 'confirmed', 'finalized'] as const;
  const [processed, confirmed, finalized] = await Promise.all(commitments.map(slotAt));
  return { processed, confirmed, finalized };
}

/** The most slots that are usual between the newest and the finalized one. */
const MAX_FINALITY_LAG = 100;

function checkTips(name: string, { processed, confirmed, finalized }: Tips): Finding {
  if (processed === undefined || confirmed === undefined || finalized === undefined)
    return fail(name, 'it does not return its slots', 'allow getSlot at processed, confirmed and finalized');
  const behind = (slot: number): string => `${Math.max(0, processed - slot)} behind`; // it may have been read a moment later
  const finding = `processed ${processed}, confirmed ${behind(confirmed)}, finalized ${behind(finalized)}`;
  return processed - finalized <= MAX_FINALITY_LAG
    ? ok(name, finding)
    : warn(name, finding, 'the cluster or the node finalizes late: compare with another node');
}

const READS = 5;
/** Reads in which a pool of nodes shows itself, by slots that go back. */
const SLOT_READS = 12;
const SLOW_MS = 1000;

async function checkReads(name: string, probe: NodeProbe, isPooled: boolean): Promise<Finding> {
  const times: number[] = [];
  let newest = 0;
  let back = 0;
  try {
    for (let read = 0; read < SLOT_READS; read++) {
      const { result, ms } = await probe.call('getSlot', [{ commitment: 'processed' }]);
      if (read < READS) times.push(ms);
      if (typeof result !== 'number') continue;
      back = Math.max(back, newest - result);
      newest = Math.max(newest, result);
    }
  } catch (thrown) {
    const fix = 'raise the plan, add nodes, or lower refresh.* and live.*';
    return warn(name, reasonOf(thrown), fix);
  }
  const median = Math.round(times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
  const finding = `median ${median} ms of ${times.length} reads`;
  if (back > 0 && !isPooled)
    return warn(name, `${finding}; its slots went back by ${back}: it is many nodes`, 'set pooled: true for it');
  return median <= SLOW_MS ? ok(name, finding) : warn(name, finding, 'use a nearer or faster node');
}

/** Codes of "no such method", and what providers send instead. */
const UNKNOWN_METHOD = -32601;
const REFUSAL =
  /method.*(not (found|allowed|available|supported)|unsupported|disabled|restricted)|not available|upgrade/i;

const UNKNOWN_SIGNATURE = '1'.repeat(64);
const SAMPLE_MINT = 'So11111111111111111111111111111111111111112';

/** Parameters with which each method answers, or at least is known. */
const SAMPLE_PARAMS = (slot: number): Readonly<Record<string, readonly unknown[]>> => ({
  getBalance: [SYSTEM_PROGRAM],
  getAccountInfo: [SYSTEM_PROGRAM],
  getMultipleAccounts: [[SYSTEM_PROGRAM]],
  getTokenAccountsByOwner: [SYSTEM_PROGRAM, { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed' }],
  getTokenAccountBalance: [SYSTEM_PROGRAM],
  getTokenSupply: [SAMPLE_MINT],
  getTokenLargestAccounts: [SAMPLE_MINT],
  getBlock: [slot, { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0 }],
  getBlockTime: [slot],
  getTransaction: [UNKNOWN_SIGNATURE],
  getSignaturesForAddress: [SYSTEM_PROGRAM, { limit: 1 }],
  getClusterNodes: [],
});

/** Calls in flight at a time, so that no rate limit is met by this check alone. */
const CONCURRENT_CALLS = 3;

async function checkMethods(name: string, node: NodeConfig, probe: NodeProbe, tips: Tips): Promise<Finding> {
  const samples = SAMPLE_PARAMS(tips.finalized ?? 0);
  const wanted = node.methods ?? READ_METHODS;
  const refused: string[] = [];
  await mapConcurrently(wanted, CONCURRENT_CALLS, async (method) => {
    const { error } = await probe.call(method, samples[method] ?? []);
    if (error !== undefined && (error.code === UNKNOWN_METHOD || REFUSAL.test(error.message))) refused.push(method);
  });
  const finding = `${wanted.length - refused.length} of ${wanted.length} methods`;
  if (refused.length === 0) return ok(name, finding);
  const fix = 'add a node that has them, or list the methods of this one in its setting methods';
  return warn(name, `${finding}; refused: ${refused.join(', ')}`, fix);
}

async function checkLedger(name: string, node: NodeConfig, probe: NodeProbe): Promise<Finding> {
  const { result, error } = await probe.call('getFirstAvailableBlock');
  if (typeof result !== 'number')
    return warn(name, describeError(error), 'old blocks may be missing without a word: compare with another node');
  if (node.archival !== true || result <= ARCHIVE_START) return ok(name, `slot ${result}`);
  const fix = 'remove archival, or ask the provider for the archive';
  return warn(name, `slot ${result}, although it is set as archival`, fix);
}

/** A whole ledger may begin with a snapshot of the first epochs. */
const ARCHIVE_START = 1_000_000;

/** The owner of sysvars, whose Clock changes in every slot. */
const SYSVAR_PROGRAM = 'Sysvar1111111111111111111111111111111111111';

const SUBSCRIPTIONS: readonly (readonly [method: string, params: readonly unknown[], fix: string])[] = [
  ['slotSubscribe', [], 'ask the provider for slotSubscribe: without it slots are polled'],
  [
    'accountSubscribe',
    [CLOCK_SYSVAR, { encoding: 'base64', commitment: 'processed' }],
    'ask the provider for accountSubscribe, or set live.accounts=0: without it nothing is kept live',
  ],
  [
    'programSubscribe',
    [SYSVAR_PROGRAM, { encoding: 'base64', commitment: 'processed' }],
    'ask the provider for programSubscribe, or set live.lists=0: without it token lists are read on request',
  ],
];

async function checkWebSocket(
  nameOf: (what: string) => string,
  probe: NodeProbe,
  add: (finding: Finding) => void,
): Promise<void> {
  let socket: Awaited<ReturnType<NodeProbe['openSocket']>>;
  try {
    socket = await probe.openSocket();
  } catch (thrown) {
    const fix = 'name its WebSocket: --upstream URL,WEBSOCKET-URL; without one slots are polled and nothing is live';
    add(fail(nameOf('WebSocket'), reasonOf(thrown), fix));
    return;
  }
  add(ok(nameOf('WebSocket'), 'open'));
  const findings = SUBSCRIPTIONS.map(async ([method, params, fix]) => {
    const name = nameOf(method);
    return socket.firstNews(method, params).then(
      (ms) => ok(name, `after ${Math.round(ms)} ms`),
      (thrown: unknown) => (method === 'slotSubscribe' ? fail : warn)(name, reasonOf(thrown), fix),
    );
  });
  for (const finding of await Promise.all(findings)) add(finding);
  socket.close();
}

const describeError = (error: RpcAnswer['error']): string =>
  error === undefined ? 'an unexpected answer' : `error ${error.code} ${error.message}`;

const MAX_LAG_SLOTS = 10;
const SKEW_WARN_MS = 2000;
const SKEW_FAIL_MS = 30_000;

/** Checks whether a lie of one operator would be signed. */
export function checkOperators(operators: ConfiguredOperators | undefined): Finding {
  if (operators !== undefined && operators.needed > 1)
    return ok('operators', `${operators.needed} of ${operators.count} must give the same before it is exact`);
  return ok('operators', 'the word of one is enough: a lie of its nodes would be signed');
}

export function compareNodes(reports: readonly NodeReport[]): readonly Finding[] {
  const reached = reports.filter(({ genesis }) => genesis !== undefined);
  const clusters = new Set(reached.map(({ genesis }) => genesis));
  const tip = Math.max(...reached.map(({ slot = 0 }) => slot));
  const late = reached.filter(({ slot }) => slot !== undefined && tip - slot > MAX_LAG_SLOTS);
  const lag = 'remove it, or let it catch up: until then it gets no reads';
  const mixed = 'name nodes of one cluster only, and set cluster to its genesis hash';
  return [
    ...(clusters.size > 1
      ? [fail('clusters', reached.map(({ id, genesis }) => `${id} has ${genesis}`).join(', '), mixed)]
      : late.map(({ id, slot = 0 }) => warn(`${id} lag`, `${tip - slot} slots behind the newest node`, lag))),
    ...checkClock(reached.flatMap(({ clockLeadMs }) => clockLeadMs ?? [])),
  ];
}

function checkClock(leads: readonly number[]): readonly Finding[] {
  const lead = leads.toSorted((a, b) => a - b)[Math.floor(leads.length / 2)];
  if (lead === undefined) return [];
  const skewMs = Math.abs(lead);
  if (skewMs < SKEW_WARN_MS) return [ok('clock', 'within two seconds of the nodes')];
  const finding = `${(skewMs / 1000).toFixed(0)} s ${lead > 0 ? 'behind' : 'ahead of'} the nodes`;
  const fix = 'synchronize it, by NTP: receipts carry its time';
  return [skewMs < SKEW_FAIL_MS ? warn('clock', finding, fix) : fail('clock', finding, fix)];
}
