import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../../src/localnet/embedded-cluster.ts';
import {
  COINS,
  DEMO_ACCOUNTS,
  NONCE,
  TREASURY,
  WALLETS,
  WHALE,
} from '../../../../src/localnet/traffic/demo-accounts.ts';
import { type Rng, seededRng } from '../../../../src/localnet/traffic/seeded-rng.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { httpClient } from '../../../support/harness.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import { expect, expectNone, expectWithinMs, type Finding, info, type Row } from '../../findings.ts';
import { MutatingNode, type MutationCounts } from '../mutations/mutating-node.ts';

const SLOT_MS = 150;
/** Nodes that differ in their paths: two that agree outvote a slot that one has made up. */
const NODES = 3;
const READERS = 24;
const SUBSCRIBERS = 6;
const SETTINGS = [
  'limits.free.messages=1000000',
  'limits.free.inFlight=10000',
  'limits.free.streams=1000',
  'limits.free.subscriptions=1000',
  'limits.inFlight=10000',
  'limits.loopDelayMs=60000', // a busy machine must not make it refuse what would reach a decoder
  'upstreamPolicy.timeoutMs=1000',
  'upstreamPolicy.backoffMinMs=20',
  'upstreamPolicy.backoffMaxMs=60',
  'upstreamPolicy.ackTimeoutMs=1000',
  'live.idleMs=6400', // what has become ineligible is tried again soon
  'live.auditMs=700',
  'live.requestsPerSecond=200',
  'refresh.epochMs=200',
  'refresh.performanceMs=200',
  'refresh.priorityFeeMs=200',
];
/** Spans of changes: while accounts become live, and then of what they are notified. */
const PHASES = [
  { ms: 1000, rates: { http: 0.5, acknowledgements: 0, copies: 0 } },
  { ms: 600, rates: { http: 0.5, acknowledgements: 0.03, copies: 8 } },
] as const;
/** Characters of the error that ended a process. */
const MAX_REASON = 1500;
/** Longest turn of the event loop, in CPU time. */
const MAX_TURN_MS = 1000;
/** Time after which a process that does not answer counts as hung, on a busy machine too: turns are bounded by CPU time. */
const MAX_SILENCE_MS = 120_000;
/** Time after which a gateway that is not healthy again, over nodes that change nothing any more, stays so. */
const MAX_RECOVERY_MS = 120_000;
/** Slots beyond the cluster's at which two nodes must have made up the same slot: no guard can refuse what two agree on. */
const MADE_UP_SLOTS = 1_000_000;
/** Reserved for the check that follows: no other request names it. */
const UNREAD = WHALE.address;

const NOT_CHECKED = { isHealthy: false, isOutvoted: false, isBalanceTrue: false };

/** What a run with one seed has shown. */
interface SeedRun {
  readonly seed: number;
  readonly counts: MutationCounts;
  /** The end of the process, with the answers before it; undefined if it goes on. */
  readonly exit: string | undefined;
  readonly isHung: boolean;
  readonly longestTurnMs: number;
  readonly isHealthy: boolean;
  /** Two nodes happened to add a digit to the same slot, so the tip is theirs. */
  readonly isOutvoted: boolean;
  readonly isBalanceTrue: boolean;
  readonly answered: Readonly<Record<string, number>>;
}

export const mutatedAnswers: Row = {
  id: 'mutated-answers',
  title: 'answers and notifications that are changed at random',
  async run({ isFull, main }) {
    const seeds = process.env['SEED']?.split(',').map(Number) ?? (isFull ? [1, 2, 3, 4, 5] : [1, 2]);
    const plan = isFull ? { mutants: 10_000, limitMs: 900_000 } : { mutants: 800, limitMs: 8000 };
    const cluster = await startEmbeddedCluster({ slotMs: SLOT_MS, transactionsPerSlot: 1 });
    const node = await MutatingNode.start(cluster);
    const runs: SeedRun[] = [];
    for (const seed of seeds) {
      const run = await runSeed(seed, cluster, node, main, plan);
      const { http, webSocket } = run.counts;
      const answers = Object.entries(run.answered).map(([status, count]) => `${count} x ${status}`);
      console.log(
        `  seed ${seed}: ${http} answers and ${webSocket} messages changed; ${answers.join(', ')}; longest turn ${run.longestTurnMs.toFixed(0)} ms`,
      );
      if (run.exit !== undefined) console.log(`  seed ${seed}: ended after ${http + webSocket}: ${run.exit}`);
      runs.push(run);
    }
    await node.close();
    await cluster.close();
    return findingsOf(runs, isFull, plan.mutants);
  },
};

function findingsOf(runs: readonly SeedRun[], isFull: boolean, mutants: number): readonly Finding[] {
  const sum = (over: keyof MutationCounts): number => runs.reduce((total, { counts }) => total + counts[over], 0);
  const count = (isOne: (run: SeedRun) => boolean): number => runs.filter(isOne).length;
  return [
    info('seeds', runs.map(({ seed }) => seed).join(' ')),
    info('answers over HTTP', sum('http')),
    info('messages over WebSocket', sum('webSocket')),
    expect(
      'the planned number',
      !isFull || count(({ counts }) => Math.min(counts.http, counts.webSocket) < mutants) === 0,
    ),
    expectNone(
      'processes that ended',
      count(({ exit }) => exit !== undefined),
    ),
    expectNone(
      'that hung',
      count(({ isHung }) => isHung),
    ),
    expectNone(
      'not healthy afterwards',
      count(({ isHealthy, isOutvoted }) => !isHealthy && !isOutvoted),
    ),
    expect('at most one with a tip that two nodes made up', count(({ isOutvoted }) => isOutvoted) <= 1),
    expectNone(
      'with another balance afterwards',
      count(({ isBalanceTrue, isOutvoted }) => !isBalanceTrue && !isOutvoted),
    ),
    expectWithinMs(
      { isFull },
      'longest turn',
      Math.max(...runs.map(({ longestTurnMs }) => longestTurnMs)),
      MAX_TURN_MS,
    ),
  ];
}

async function runSeed(
  seed: number,
  cluster: EmbeddedCluster,
  node: MutatingNode,
  main: string | undefined,
  { mutants, limitMs }: { readonly mutants: number; readonly limitMs: number },
): Promise<SeedRun> {
  node.reset(seed);
  const gateway = await GatewayProcess.start(node.upstreams(NODES), { main, set: SETTINGS });
  const load = new MixedLoad(gateway.url, seed, await pathsOf(cluster));
  await sleep(1500);
  await gateway.report('measure', MAX_SILENCE_MS); // what starting has cost
  const deadlineMs = performance.now() + limitMs;
  let longestTurnMs = 0;
  let isHung = false;
  const isReached = (): boolean => Math.min(node.counts.http, node.counts.webSocket) >= mutants;
  const hasEnded = (): boolean => gateway.exitReason !== undefined;
  const isDone = (): boolean => hasEnded() || isHung || isReached() || performance.now() > deadlineMs;
  while (!isDone()) {
    for (const { ms, rates } of PHASES) {
      node.rates = node.counts.webSocket < mutants ? rates : PHASES[0].rates; // an equal part of both
      const untilMs = performance.now() + ms;
      while (performance.now() < untilMs && !isDone()) await sleep(20);
    }
    const report = hasEnded() ? undefined : await gateway.report('measure', MAX_SILENCE_MS);
    longestTurnMs = Math.max(longestTurnMs, report?.longestMs ?? 0);
    isHung = report === undefined && !hasEnded();
  }
  const { counts, lastMutants } = { counts: { ...node.counts }, lastMutants: [...node.lastMutants] };
  node.reset(seed);
  await load.stop();
  const isAlive = !hasEnded() && !isHung;
  const checked = isAlive ? await checkAfterwards(gateway.url, cluster) : NOT_CHECKED;
  const exit = hasEnded() ? [reasonOf(gateway), ...lastMutants].join('\n    ') : undefined;
  await gateway.close();
  return { seed, counts, exit, isHung, longestTurnMs, ...checked, answered: load.answered };
}

function reasonOf({ child }: GatewayProcess): string {
  const lines = `${child.stdout()}\n${child.stderr()}`.split('\n');
  const uncaught = lines.filter((line) => line.includes('uncaught')).at(-1) ?? child.stderr();
  return `${child.process.exitCode ?? child.process.signalCode} ${uncaught.slice(0, MAX_REASON)}`;
}

/** Reads the health and a balance that nobody has read, as soon as both can be right. */
async function checkAfterwards(
  url: string,
  cluster: EmbeddedCluster,
): Promise<Pick<SeedRun, 'isHealthy' | 'isOutvoted' | 'isBalanceTrue'>> {
  const deadlineMs = performance.now() + MAX_RECOVERY_MS;
  const { get } = httpClient(url);
  const { value } = await rpcRequest<{ value: number }>(cluster.url, 'getBalance', [UNREAD]);
  for (;;) {
    const within = { signal: AbortSignal.timeout(MAX_RECOVERY_MS) };
    const health = await get('/health', within).catch(() => undefined);
    const balance = await get(`/balance/${UNREAD}`, within).catch(() => undefined);
    const tip = await rpcRequest<number>(cluster.url, 'getSlot');
    const found = {
      isOutvoted: tipIn(health?.text ?? '', tip) > tip + MADE_UP_SLOTS,
      isHealthy: health?.json.result?.status === 'ok',
      isBalanceTrue: balance?.json.result?.lamports === value,
    };
    if (found.isHealthy && found.isBalanceTrue) return found;
    if (performance.now() > deadlineMs) {
      console.log(`  afterwards: ${health?.text}`);
      return found;
    }
    await sleep(200);
  }
}

/** Returns the newest slot of which a gateway knows by its health, which names it only by how far nodes are behind it. */
const tipIn = (health: string, slot: number): number =>
  Math.max(slot, ...[...health.matchAll(/behind by (\d+) slots/g)].map(([, behind]) => slot + Number(behind)));

/** Returns the paths of all routes that read from a node, each with what the cluster has for it. */
async function pathsOf({ url }: EmbeddedCluster): Promise<readonly ((rng: Rng, hot: boolean) => string)[]> {
  const owners: [string, ...string[]] = [TREASURY.address, ...WALLETS.map(({ address }) => String(address))];
  const mints: [string, ...string[]] = [COINS[0].mint.address, ...COINS.map(({ mint }) => String(mint.address))];
  const addresses: [string, ...string[]] = [NONCE.address, ...owners, ...mints];
  addresses.push(...DEMO_ACCOUNTS.map(({ address }) => String(address)).filter((address) => address !== UNREAD));
  const listed = (
    await Promise.all(
      owners.map((owner) =>
        rpcRequest<{ signature: string; slot: number }[]>(url, 'getSignaturesForAddress', [owner, { limit: 50 }]),
      ),
    )
  ).flat();
  const [first, ...others] = listed.map(({ signature }) => String(signature));
  const signatures: [string, ...string[]] = [first ?? '', ...others];
  const slots: [number, ...number[]] = [listed[0]?.slot ?? 1, ...listed.map(({ slot }) => Number(slot))];
  const at = (rng: Rng): string => `commitment=${rng.pick(['processed', 'confirmed', 'confirmed', 'finalized'])}`;
  const few = (rng: Rng, all: [string, ...string[]], hot: boolean): string =>
    hot ? (all[rng.intBelow(4)] ?? all[0]) : rng.pick(all);
  return [
    () => '/epoch',
    () => '/performance',
    () => '/priority-fee',
    (rng, hot) => `/balance/${few(rng, addresses, hot)}?${at(rng)}`,
    (rng, hot) => `/account/${few(rng, addresses, hot)}?${at(rng)}`,
    (rng) => `/balances?addresses=${[rng.pick(addresses), rng.pick(addresses), rng.pick(owners)].join()}`,
    (rng, hot) => `/token-accounts/${few(rng, owners, hot)}?${at(rng)}`,
    (rng, hot) => `/address/${few(rng, owners, hot)}/portfolio?${at(rng)}`,
    (rng) => `/token/${rng.pick(mints)}?${at(rng)}`,
    (rng) => `/token/${rng.pick(mints)}/holders`,
    (rng) => `/address/${rng.pick(addresses)}/history?limit=${1 + rng.intBelow(30)}`,
    (rng) => `/address/${rng.pick(owners)}/history?type=transfers&limit=${1 + rng.intBelow(10)}`,
    (rng) => `/block/${rng.pick(slots)}`,
    (rng) => `/block/${rng.pick(slots) + rng.intBelow(100)}?${at(rng)}`,
    (rng) => `/leaders/${rng.pick(slots)}`,
    (rng) => `/tx/${rng.pick(signatures)}`,
    (rng) => `/tx/${rng.pick(signatures)}?enhanced=1`,
    (rng) => `/search?q=${rng.pick([...addresses, ...signatures, 'demo.sol', 'bonfida.sol'])}`,
  ];
}

const RPC_CALLS: readonly ((address: string, signature: string) => readonly [string, readonly unknown[]])[] = [
  (address) => ['getAccountInfo', [address, { encoding: 'jsonParsed' }]],
  (address) => ['getBalance', [address]],
  (address) => ['getMultipleAccounts', [[address, TREASURY.address], { encoding: 'base64' }]],
  (address) => [
    'getTokenAccountsByOwner',
    [address, { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }, { encoding: 'jsonParsed' }],
  ],
  (address) => ['getTokenAccountBalance', [address]],
  () => ['getTokenSupply', [COINS[0].mint.address]],
  () => ['getTokenLargestAccounts', [COINS[0].mint.address]],
  () => ['getEpochInfo', []],
  () => ['getVersion', []],
  () => ['getClusterNodes', []],
  () => ['getBlockProduction', []],
  () => ['getRecentPerformanceSamples', [5]],
  () => ['getRecentPrioritizationFees', []],
  () => ['getBlockHeight', []],
  () => ['getLatestBlockhash', []],
  (address) => ['getSignaturesForAddress', [address, { limit: 5 }]],
  (_, signature) => ['getTransaction', [signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 1 }]],
];

/** Readers of all routes and subscribers to accounts, until {@link stop}. */
class MixedLoad {
  /** Answers by their status, and requests without one. */
  readonly answered: Record<string, number> = {};
  readonly #url: string;
  readonly #ends: Promise<void>[];
  readonly #pool: Pool;
  #isStopped = false;

  constructor(url: string, seed: number, paths: readonly ((rng: Rng, hot: boolean) => string)[]) {
    this.#url = url;
    this.#pool = new Pool(url, { connections: READERS, headersTimeout: 20_000 });
    const readers = Array.from({ length: READERS }, (_, i) => this.#read(seededRng(1000 * seed + i), paths));
    const subscribers = Array.from({ length: SUBSCRIBERS }, (_, i) =>
      this.#subscribe(seededRng(1000 * seed + 500 + i)),
    );
    this.#ends = [...readers, ...subscribers];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#pool.destroy();
    await Promise.all(this.#ends);
  }

  async #read(rng: Rng, paths: readonly ((rng: Rng, hot: boolean) => string)[]): Promise<void> {
    while (!this.#isStopped) {
      const path = paths[rng.intBelow(paths.length + 3)]?.(rng, rng.intBelow(2) === 0);
      const [method, params] = RPC_CALLS[rng.intBelow(RPC_CALLS.length)]?.(
        rng.pick([TREASURY.address, ...WALLETS.map(({ address }) => address)]),
        'x',
      ) ?? ['', []];
      try {
        const { statusCode, body } = await this.#pool.request(
          path === undefined
            ? {
                method: 'POST',
                path: '/api/v1/rpc',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
              }
            : { method: 'GET', path: `/api/v1${path}` },
        );
        await body.dump();
        this.#count(`${statusCode}`);
      } catch {
        if (!this.#isStopped) this.#count('no answer');
        await sleep(50);
      }
    }
  }

  /** Keeps accounts and lists live, and subscribes again where a subscription has ended, to each form of a frame. */
  async #subscribe(rng: Rng): Promise<void> {
    while (!this.#isStopped) {
      const form = rng.pick(['', '?format=msgpack', '?receipts=1']);
      const socket = new WebSocket(`${this.#url.replace('http', 'ws')}/api/v1/stream${form}`);
      socket.on('error', () => {}); // close follows
      socket.on('open', () => {
        for (let i = 0; i < 12; i++) {
          const topic = rng.pick(['balance', 'account']);
          const commitment = rng.pick(['processed', 'confirmed', 'finalized']);
          const { address } = rng.pick([TREASURY, ...WALLETS]);
          socket.send(JSON.stringify({ op: 'subscribe', topic, address, commitment, id: `${i}` }));
        }
      });
      await sleep(1000 + rng.intBelow(1500));
      socket.terminate();
    }
  }

  #count(outcome: string): void {
    this.answered[outcome] = (this.answered[outcome] ?? 0) + 1;
  }
}
