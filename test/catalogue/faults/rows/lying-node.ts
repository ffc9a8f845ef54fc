import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import { Pool } from 'undici';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { GENESIS } from '../../../support/scripted-node.ts';
import { expect, expectNone, type Finding, info, type Row, type RunLength } from '../../findings.ts';
import { FormulaChain } from '../formula-chain/formula-chain.ts';
import type { Lies } from '../formula-chain/formula-node.ts';
import { FormulaNodeProcess } from '../formula-chain/formula-node-process.ts';

const READERS = 16;
/** Accounts that are read all the time, and so kept live. */
const HOT = Array.from({ length: 40 }, (_, i) => addressOfNumber(i));
const AUDIT_MS = 2000;
const LIAR = 'liar';
const POLL_MS = 50;
/** Slots are `exact` above the first finalized one. */
const WARM_UP_MS = 1500;
/** Until then the accounts that are read all the time are live. */
const HOT_MS = 1000;

interface Variant {
  readonly name: string;
  /** Null for a node that is honest as the others. */
  readonly lies: Lies | null;
  /** Milliseconds before each answer of honest nodes, and of the liar. */
  readonly latencyMs?: readonly [honest: number, liar: number];
  readonly weight?: number;
  /** Whether operators are compared. */
  readonly isCompared?: boolean;
  /** What is read. Default: cold and live accounts at finalized, live ones at confirmed, and transactions. */
  readonly reads?: 'confirmed-cold';
  /** Whether it lies so seldom that it is found after many reads, whatever time they take. */
  readonly isSeldom?: boolean;
}

const FALSE: Lies = { over: 'both', as: 'false-value', every: 1 };

const VARIANTS: readonly Variant[] = [
  { name: 'equal latency', lies: FALSE },
  { name: 'quick liar', lies: FALSE, latencyMs: [40, 1] },
  { name: 'weight 100', lies: FALSE, weight: 100 },
  { name: 'over HTTP only', lies: { ...FALSE, over: 'http' } },
  { name: 'over WebSocket only', lies: { ...FALSE, over: 'pubsub' }, weight: 100 },
  { name: 'in transactions only', lies: { ...FALSE, over: 'transactions' } },
  { name: 'values of another slot', lies: { ...FALSE, as: 'older-slot' } },
  { name: 'one lie in 20', lies: { ...FALSE, every: 20 } },
];
/** What only the long form runs: lies in answers that nobody compares but by samples, and no lies. */
const LONG: readonly Variant[] = [
  { name: 'confirmed cold reads', lies: { ...FALSE, over: 'http' }, reads: 'confirmed-cold', isSeldom: true },
  { name: 'one lie in 1000', lies: { ...FALSE, every: 1000 }, isSeldom: true },
  { name: 'honest', lies: null },
];
/** The reads within which a liar is named where the machine is too busy for the time: a quiet one makes them in a second. */
const MAX_READS = 500;
/** The most false answers of 10,000 cold reads at confirmed: a sample of 2 % finds a liar that gives a third of them. */
const MAX_FALSE_CONFIRMED = 300;
const SHORT = ['quick liar', 'over WebSocket only', 'in transactions only'];
/** The control reads until it has this number of false claims, and at most this multiple of the answers wanted. */
const CONTROL_FALSE = 300;
const CONTROL_ANSWERS = 20;
const CONTROL: Variant = { name: 'control, not compared', lies: FALSE, latencyMs: [40, 1], isCompared: false };

/** One node of three lies: it gets neither `exact` nor `immutable`, and is found. */
export const lyingNode: Row = {
  id: 'lying-node',
  title: 'one of three nodes, each of another operator, returns false values',
  async run(length) {
    const { isFull } = length;
    const variants = isFull ? [...VARIANTS, ...LONG] : VARIANTS.filter(({ name }) => SHORT.includes(name));
    const findings: Finding[] = [];
    const wanted = isFull ? 10_000 : 1000;
    for (const variant of variants) findings.push(...judge(variant, await run(variant, length, wanted)));
    const control = await run(CONTROL, length, wanted);
    const found = falseClaimsOf(control);
    findings.push(expect(`${CONTROL.name}: ${found} false of ${control.answers}`, found >= CONTROL_FALSE));
    return findings;
  },
};

function judge({ name, lies, reads, isSeldom = false }: Variant, counts: Counts): readonly Finding[] {
  const { answers, exact, immutable, falseExact, falseImmutable, falseBefore, falseAfter, namedMs, calls } = counts;
  const limitMs = 2 * AUDIT_MS;
  if (lies === null)
    return [
      info(`${name}: answers`, answers),
      info(`exact of ${counts.finalized} at finalized`, exact),
      expectNone('false', falseBefore + falseAfter),
      expectNone('alarms', counts.alarms),
      info('calls', calls),
    ];
  return [
    info(`${name}: answers`, answers),
    info(`exact of ${counts.finalized} at finalized`, exact),
    info('immutable', immutable),
    expectNone('false exact', falseExact),
    expectNone('false immutable', falseImmutable),
    reads === 'confirmed-cold'
      ? expect(
          `${falseBefore} false before it was refused (limit ${MAX_FALSE_CONFIRMED})`,
          falseBefore <= MAX_FALSE_CONFIRMED,
        )
      : info('false observed before it was refused', falseBefore),
    expectNone('after', falseAfter),
    info('reads until it was named', counts.readsUntilNamed),
    isSeldom
      ? expect(`named after ${Math.round(namedMs)} ms`, Number.isFinite(namedMs))
      : expect(
          `named after ${Math.round(namedMs)} ms (limit ${limitMs}, or ${MAX_READS} reads)`,
          namedMs <= limitMs || (Number.isFinite(namedMs) && counts.readsUntilNamed <= MAX_READS),
        ),
    info('calls', calls),
  ];
}

/** Runs a gateway over the nodes, reads all the time, and lets one node lie after a while. */
async function run(variant: Variant, { main }: RunLength, wanted: number): Promise<Counts> {
  const { lies, latencyMs: [honestMs, liarMs] = [0, 0], weight = 1, isCompared = true } = variant;
  const parameters = { genesis: GENESIS, originMs: Date.now() - 600_000, slotMs: 150, maxUnchangedSlots: 40 };
  const nodes = await Promise.all([0, 1, 2].map(() => FormulaNodeProcess.start(parameters)));
  const [liar] = nodes;
  const upstreams = nodes.map((node, i) => {
    const [url, ws] = [`http://127.0.0.1:${node.port}`, `ws://127.0.0.1:${node.port}`];
    return node === liar ? { url, ws, id: LIAR, weight } : { url, ws, id: `honest-${i}` };
  });
  const set = [
    `upstreams=${JSON.stringify(upstreams)}`,
    `live.auditMs=${AUDIT_MS}`,
    ...['limits.free.inFlight=10000', 'limits.inFlight=10000', 'limits.loopDelayMs=60000'],
    ...(isCompared ? [] : ['receipts.agree=1', 'receipts.sampleRate=0', 'live.auditMs=600000']),
  ];
  const gateway = await GatewayProcess.start([], { main, set });
  await Promise.all(nodes.map((node) => node.send({ latencyMs: node === liar ? liarMs : honestMs })));
  await sleep(WARM_UP_MS);
  const load = new Reads(gateway.url, new FormulaChain(parameters), variant.reads === 'confirmed-cold');
  const reading = load.run();
  await sleep(HOT_MS);
  await liar?.send({ lies });
  const liesMs = performance.now();
  const from = load.counts.answers;
  if (isCompared && lies !== null) {
    load.counts.namedMs = await untilNamed(gateway.url, liesMs);
    load.counts.readsUntilNamed = load.counts.answers - from;
    load.counts.isRefused = await untilRefused(gateway.url);
  }
  const isReadEnough = (): boolean => {
    const answers = load.counts.answers - from;
    if (isCompared || answers < wanted) return answers >= wanted;
    return falseClaimsOf(load.counts) >= CONTROL_FALSE || answers >= CONTROL_ANSWERS * wanted;
  };
  while (!isReadEnough()) await sleep(POLL_MS);
  load.stop();
  await reading;
  load.counts.alarms = (await healthOf(gateway.url)).problems.length;
  for (const node of nodes)
    load.counts.calls += Object.values(await node.send({})).reduce((sum, count) => sum + count, 0);
  await gateway.close();
  await Promise.all(nodes.map((node) => node.kill()));
  return load.counts;
}

interface Health {
  readonly problems: readonly string[];
  readonly upstreams: readonly { readonly id: string; readonly status: string }[];
}

async function healthOf(url: string): Promise<Health> {
  const answer = await fetch(`${url}/api/v1/health`);
  return ((await answer.json()) as { readonly result: Health }).result;
}

const MAX_MS = 180_000;

/** Returns the milliseconds until `/health` names the liar. */
async function untilNamed(url: string, beganMs: number): Promise<number> {
  while (performance.now() - beganMs < MAX_MS) {
    if ((await healthOf(url)).problems.some((problem) => problem.startsWith(`${LIAR} gave`)))
      return performance.now() - beganMs;
    await sleep(POLL_MS);
  }
  return Number.POSITIVE_INFINITY;
}

/** A liar whose subscriptions have moved to another node after its first lie is not found a second time for minutes. */
const REFUSAL_MS = 30_000;

/** Resolves with true once the liar is used no more, or with false after {@link REFUSAL_MS}. */
async function untilRefused(url: string): Promise<boolean> {
  const namedMs = performance.now();
  while (performance.now() - namedMs < REFUSAL_MS) {
    if ((await healthOf(url)).upstreams.some(({ id, status }) => id === LIAR && status === 'down')) return true;
    await sleep(POLL_MS);
  }
  return false;
}

class Counts {
  answers = 0;
  /** Balances at finalized. */
  finalized = 0;
  exact = 0;
  immutable = 0;
  falseExact = 0;
  falseImmutable = 0;
  falseBefore = 0;
  falseAfter = 0;
  namedMs = Number.POSITIVE_INFINITY;
  readsUntilNamed = 0;
  alarms = 0;
  calls = 0;
  /** Whether the liar is used no more: reads that begin from now on count as after. */
  isRefused = false;
}

function falseClaimsOf({ falseExact, falseImmutable }: Counts): number {
  return falseExact + falseImmutable;
}

interface Answer {
  readonly slot: number;
  readonly result: { readonly lamports: number; readonly meta: { readonly fee: number } };
  readonly receipt: { readonly claim: string };
}

/** Reads finalized balances, confirmed ones and transactions, and compares each with the chain. */
class Reads {
  readonly counts = new Counts();
  readonly #chain: FormulaChain;
  readonly #url: string;
  readonly #isConfirmedCold: boolean;
  #addresses = HOT.length;
  #isStopped = false;

  constructor(url: string, chain: FormulaChain, isConfirmedCold: boolean) {
    this.#isConfirmedCold = isConfirmedCold;
    this.#chain = chain;
    this.#url = url;
  }

  /** Reads until {@link stop}. */
  async run(): Promise<void> {
    const pool = new Pool(this.#url, { connections: READERS });
    let turn = 0;
    const read = async (): Promise<void> => {
      while (!this.#isStopped) {
        turn++;
        const fresh = addressOfNumber(this.#addresses++);
        if (this.#isConfirmedCold) {
          await this.#balance(pool, fresh, 'confirmed');
          continue;
        }
        await this.#balance(pool, fresh, 'finalized');
        await this.#balance(pool, HOT[turn % HOT.length] ?? fresh, turn % 2 === 0 ? 'finalized' : 'confirmed');
        if (turn % 4 === 0) await this.#transaction(pool);
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    await pool.destroy();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #balance(pool: Pool, address: string, commitment: string): Promise<void> {
    const wasRefused = this.counts.isRefused;
    const path = `/api/v1/balance/${address}?commitment=${commitment}`;
    const { statusCode, body } = await pool.request({ method: 'GET', path });
    const { slot, result, receipt } = (await body.json()) as Answer;
    if (statusCode !== 200) return;
    if (commitment === 'finalized') this.counts.finalized++;
    this.#count(
      result.lamports !== this.#chain.lamports(address, slot),
      receipt.claim.startsWith('exact'),
      false,
      wasRefused,
    );
  }

  async #transaction(pool: Pool): Promise<void> {
    const wasRefused = this.counts.isRefused;
    const signature = bs58.encode(randomBytes(64));
    const path = `/api/v1/tx/${signature}?commitment=finalized`;
    const { statusCode, headers, body } = await pool.request({ method: 'GET', path });
    const { result } = (await body.json()) as Answer;
    if (statusCode !== 200) return;
    const isImmutable = String(headers['cache-control']).includes('immutable');
    this.#count(result.meta.fee !== this.#chain.lamports(signature, 0), false, isImmutable, wasRefused);
  }

  #count(isFalse: boolean, isExact: boolean, isImmutable: boolean, wasRefused: boolean): void {
    const { counts } = this;
    counts.answers++;
    if (isExact) counts.exact++;
    if (isImmutable) counts.immutable++;
    if (!isFalse) return;
    if (isExact) counts.falseExact++;
    if (isImmutable) counts.falseImmutable++;
    if (wasRefused) counts.falseAfter++;
    else counts.falseBefore++;
  }
}
