import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { POOL, TREASURY, WALLETS, WHALE } from '../src/localnet/traffic/demo-accounts.ts';
import { percentile } from '../test/support/percentile.ts';
import { residentBytesOf } from '../test/support/process-memory.ts';

// A dashboard over the embedded cluster, all in one process as `npm start` runs it: balance, portfolio and token accounts
// of 200 wallets, each every 5 s, with a scale key. 27 wallets are the cluster's own, with its traffic; the others are
// empty. Reports latency, cache status, upstream calls per answer and memory. The argument is the duration in seconds.

const SECONDS = Number(process.argv[2] ?? 600);
const INTERVAL_MS = Number(process.env['INTERVAL_MS'] ?? 5000);
const WALLET_COUNT = Number(process.env['WALLETS'] ?? 200);
/** The time after which memory is compared: by then all code is compiled and all lists are live. */
const SETTLED_SECONDS = Math.min(60, SECONDS / 2);
const MIB = 1 << 20;

const OWN = [...WALLETS, TREASURY, POOL, WHALE].map(({ address }) => String(address));
const EMPTY = Array.from({ length: WALLET_COUNT - OWN.length }, () => bs58.encode(randomBytes(32)));

/** Reads that don't depend on the wallets: the pipeline makes them for `/epoch`, `/performance` and `/priority-fee`. */
const NETWORK_METHODS = [
  'getEpochInfo',
  'getRecentPerformanceSamples',
  'getRecentPrioritizationFees',
  'getSlot',
  'getGenesisHash',
  'getVersion',
  'getTransactionCount',
  'getBlockTime',
];

const ROUTES = {
  portfolio: (wallet: string) => `/address/${wallet}/portfolio`,
  balance: (wallet: string) => `/balance/${wallet}`,
  'token-accounts': (wallet: string) => `/token-accounts/${wallet}`,
} as const;
type RouteName = keyof typeof ROUTES;

interface Tally {
  readonly latenciesMs: number[];
  readonly statuses: Map<string, number>;
}

const main = fileURLToPath(new URL('../src/main.js', import.meta.url));
const state = mkdtempSync(join(tmpdir(), 'bench-'));
const keyArgs = ['keys', 'create', '--tier', 'scale', '--label', 'bench', '--state', state];
const key = execFileSync(process.execPath, [main, ...keyArgs], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
}).trim();

const gateway = spawn(process.execPath, [main, '--port', '0', '--state', state], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  env: { ...process.env, NODE_OPTIONS: `--import ${new URL('./processes/upstream-counter.js', import.meta.url)}` },
});
process.once('exit', () => gateway.kill('SIGKILL')); // a failed benchmark leaves no process
const url = await new Promise<string>((resolve, reject) => {
  let output = '';
  gateway.stdout?.on('data', (chunk) => {
    output += chunk;
    const found = /"url":"([^"]+)".*"listening"/.exec(output)?.[1];
    if (found !== undefined) resolve(found);
  });
  gateway.once('exit', () => reject(new Error(`the gateway ended before it listened: ${output}`)));
});

/** Returns the resident memory of the gateway and its cluster. */
const rssMiB = (): number => residentBytesOf(gateway.pid) / MIB;

/** Returns the upstream calls so far, by method. */
async function upstreamCalls(): Promise<Readonly<Record<string, number>>> {
  const answered = once(gateway, 'message');
  gateway.send('counts');
  const [counts] = await answered;
  return counts as Record<string, number>; // what upstream-counter sends
}

const tallies = Object.fromEntries(
  Object.keys(ROUTES).map((name): [string, Tally] => [name, { latenciesMs: [], statuses: new Map() }]),
) as Record<RouteName, Tally>; // one for each route
const client = new Pool(url, { connections: 64 });
const headers = { 'x-api-key': key };
const failures: string[] = [];

async function poll(route: RouteName, wallet: string): Promise<void> {
  const startMs = performance.now();
  const response = await client.request({ path: `/api/v1${ROUTES[route](wallet)}`, method: 'GET', headers });
  const text = await response.body.text();
  const { latenciesMs, statuses } = tallies[route];
  latenciesMs.push(performance.now() - startMs);
  const status = response.statusCode === 200 ? String(response.headers['x-cache']) : String(response.statusCode);
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (response.statusCode !== 200 && failures.length < 5) failures.push(`${response.statusCode} ${text.slice(0, 200)}`);
}

/** Polls one wallet until the end, its three routes at once, as a dashboard does. */
async function pollWallet(wallet: string, offsetMs: number, endMs: number): Promise<void> {
  for (let nextMs = performance.now() + offsetMs; nextMs < endMs; nextMs += INTERVAL_MS) {
    await sleep(Math.max(0, nextMs - performance.now()));
    await Promise.all((Object.keys(ROUTES) as RouteName[]).map((route) => poll(route, wallet)));
  }
}

const answersSoFar = (): number => Object.values(tallies).reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
const memory: { readonly second: number; readonly mib: number }[] = [];
const startMs = performance.now();
const endMs = startMs + SECONDS * 1000;
const before = await upstreamCalls();
const wallets = [...OWN, ...EMPTY].map((wallet, i) => pollWallet(wallet, (i * INTERVAL_MS) / WALLET_COUNT, endMs));
let settled: { readonly calls: Readonly<Record<string, number>>; readonly answers: number } | undefined;
const watchMemory = async (): Promise<void> => {
  while (performance.now() < endMs) {
    const second = Math.round((performance.now() - startMs) / 1000);
    memory.push({ second, mib: rssMiB() });
    if (settled === undefined && second >= SETTLED_SECONDS)
      settled = { calls: await upstreamCalls(), answers: answersSoFar() };
    await sleep(5000);
  }
};
await Promise.all([...wallets, watchMemory()]);
const after = await upstreamCalls();
memory.push({ second: SECONDS, mib: rssMiB() });
const answers = answersSoFar();

/** Prints the upstream calls of a period by method, per answer. */
function reportCalls(what: string, from: Readonly<Record<string, number>>, answerCount: number): void {
  const made = Object.entries(after).map(([name, count]): [string, number] => [name, count - (from[name] ?? 0)]);
  const isNetwork = ([name]: [string, number]): boolean => NETWORK_METHODS.includes(name);
  const perAnswer = (calls: readonly [string, number][]): number =>
    calls.reduce((sum, [, count]) => sum + count, 0) / answerCount;
  const ofWallets = made.filter((each) => !isNetwork(each) && each[0] !== 'price feeds');
  const ofPrices = made.filter(([name]) => name === 'price feeds');
  console.log(
    `${what}: ${perAnswer(ofWallets).toFixed(4)} upstream calls per answer of ${answerCount} (goal below 0.1); price feeds ` +
      `${perAnswer(ofPrices).toFixed(4)}, network statistics ${perAnswer(made.filter(isNetwork)).toFixed(4)}`,
  );
  for (const [name, count] of made.filter(([, count]) => count > 0)) console.log(`  ${name.padEnd(30)} ${count}`);
}

console.log(`${WALLET_COUNT} wallets (${OWN.length} with tokens), each every ${INTERVAL_MS} ms for ${SECONDS} s`);
for (const [name, { latenciesMs, statuses }] of Object.entries(tallies)) {
  const [p50, p99, slowest] = [
    percentile(latenciesMs, 0.5),
    percentile(latenciesMs, 0.99),
    latenciesMs.reduce((a, b) => Math.max(a, b), 0),
  ];
  const shares = [...statuses]
    .sort()
    .map(([status, n]) => `${status} ${((100 * n) / latenciesMs.length).toFixed(1)} %`);
  console.log(
    `${name.padEnd(15)} ${String(latenciesMs.length).padStart(6)} answers  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  ` +
      `max ${slowest.toFixed(0)} ms  ${shares.join('  ')}${name === 'portfolio' ? '  (goal p99 below 300 ms)' : ''}`,
  );
}
reportCalls('all', before, answers);
if (settled !== undefined) reportCalls(`after ${SETTLED_SECONDS} s`, settled.calls, answers - settled.answers);
const base = memory.find(({ second }) => second >= SETTLED_SECONDS)?.mib ?? 0;
const peak = Math.max(...memory.filter(({ second }) => second >= SETTLED_SECONDS).map(({ mib }) => mib));
console.log(
  `RSS at ${SETTLED_SECONDS} s ${base.toFixed(0)} MiB, highest after it +${(peak - base).toFixed(0)} MiB (goal at most +300), ` +
    `at the end +${((memory.at(-1)?.mib ?? 0) - base).toFixed(0)} MiB`,
);
console.log(
  memory
    .filter((_, i) => i % 6 === 0)
    .map(({ second, mib }) => `${second} s ${mib.toFixed(0)}`)
    .join('  '),
);
for (const failure of failures) console.log(failure);
process.exit();
