import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { GatewayProcess } from '../../support/gateway-process.ts';
import { type TestScope, withTestScope } from '../../support/test-scope.ts';
import { Bystanders } from '../bystanders.ts';
import type { Cost } from './cost-bounds.ts';
import { type Attempt, PIPELINE_METHODS } from './cost-family.ts';
import type { NodeScript } from './node-answers.ts';
import { CountingNode } from './scripted-node.ts';
import { type CostlyResponse, sendRequest } from './send-attempt.ts';

/** Limits that no attempt reaches, so that units can be read from `X-RateLimit-Remaining`. */
const UNLIMITED = [
  'limits.free.windowSeconds=3600',
  'limits.loopDelayMs=60000',
  'upstreamPolicy.timeoutMs=20000', // the node shares a busy machine with the gateway
  'upstreamPolicy.slowTimeoutMs=20000',
];

const DEADLINE_MS = 60_000;
/** CPU time of the main thread, and wait of a bystander, from which a gateway counts as hung: it is killed. */
const HUNG_MS = 2000;
const POLL_MS = 250;
/** Time for what an answer leaves behind. */
const SETTLE_MS = 5;
const IDLE_MS = 1500;
const CALLER = '127.0.0.2';

/** A cluster, a scripted node before it, and a gateway over both that is measured and, when it hangs, replaced. */
export class CostTestbed {
  readonly node: CountingNode;
  /** How often the gateway had to be killed. */
  hangs = 0;
  readonly #main: string | undefined;
  readonly #upstream: string;
  #gateway: GatewayProcess;
  #watch: Bystanders;
  #waitedMs = 0;
  #idleShare = 0;
  #remaining = 0;
  #tip = 0;
  #keptBytes = 0;
  #script = '{}';

  static async open(scope: TestScope, main: string | undefined): Promise<CostTestbed> {
    const cluster = await startEmbeddedCluster({ transactionsPerSlot: 0 });
    scope.teardown(() => cluster.close());
    const node = await CountingNode.start(cluster.url);
    scope.teardown(() => node.close());
    const upstream = `${node.url},${cluster.wsUrl}`;
    const gateway = await GatewayProcess.start([upstream], { main, set: UNLIMITED });
    const testbed = new CostTestbed(node, main, upstream, gateway);
    scope.teardown(() => testbed.#close());
    await testbed.#measureIdle();
    return testbed;
  }

  private constructor(node: CountingNode, main: string | undefined, upstream: string, gateway: GatewayProcess) {
    this.node = node;
    this.#main = main;
    this.#upstream = upstream;
    this.#gateway = gateway;
    this.#watch = startWatch(gateway.url);
  }

  get url(): string {
    return this.#gateway.url;
  }

  async routePaths(): Promise<readonly string[]> {
    const response = await fetch(`${this.url}/api/v1/openapi.json`);
    const { paths } = (await response.json()) as { paths: object };
    return Object.keys(paths).map((path) => path.replace('/api/v1', '').replace(/\{(\w+)\}/g, ':$1'));
  }

  /** Makes an attempt and returns its cost. With `isExact`, memory is what a collection leaves. */
  async measure(makeAttempt: (tip: number) => Attempt, isExact = false): Promise<Cost> {
    const gateway = this.#gateway;
    const attempt = makeAttempt(this.#tip);
    const { requests, script, isSimultaneous = false } = attempt;
    await this.#setScript(script);
    // all figures were reset by the last measurement; only memory changes with every collection
    const keptBefore = isExact ? (await gateway.report('weigh', DEADLINE_MS))?.keptBytes : this.#keptBytes;
    if (isExact) await gateway.resetPeak();
    const residentBytes = isExact ? gateway.peakBytes() : 0;
    const mainMs = await gateway.mainThreadMs();
    const over = new AbortController();
    const deadline = AbortSignal.any([AbortSignal.timeout(DEADLINE_MS), over.signal]);
    setMaxListeners(requests.length + 1, deadline);
    const statuses: string[] = [];
    const send = async (request: Attempt['requests'][number]): Promise<void> => {
      if (deadline.aborted) return;
      const response = await sendRequest(gateway.url, request, CALLER, deadline).catch(() => undefined);
      statuses.push(describeOutcome(response));
    };
    const sendAll = async (): Promise<void> => {
      if (isSimultaneous) await Promise.all(requests.map(send));
      else for (const request of requests) await send(request);
    };
    const hung = this.#untilHung(mainMs, over.signal);
    const hasHung = await Promise.race([sendAll().then(() => false), hung]);
    over.abort();
    if (!hasHung) await sleep(SETTLE_MS);
    const spent = hasHung ? undefined : await gateway.report(isExact ? 'weigh' : 'measure', DEADLINE_MS);
    const waitMs = await this.#nextWait();
    const { calls, bytes } = await this.node.nextCounts();
    const sumOf = (byMethod: Readonly<Record<string, number>>): number =>
      Object.entries(byMethod).reduce((sum, [method, each]) => (PIPELINE_METHODS.has(method) ? sum : sum + each), 0);
    const common = {
      calls: sumOf(calls),
      readBytes: sumOf(bytes),
      waitMs,
      statuses: [...new Set(statuses)].join(),
    };
    if (spent === undefined) {
      const turnMs = (await gateway.mainThreadMs()) - mainMs;
      await this.#replaceGateway();
      return { ...common, units: 1, turnMs, cpuMs: turnMs, keptBytes: 0, peakBytes: 0, hasHung: true };
    }
    const peakBytes = isExact ? gateway.peakBytes() - residentBytes : 0;
    this.#keptBytes = spent.keptBytes;
    const unitsBefore = this.#remaining;
    await this.#readSlot();
    return {
      ...common,
      units: unitsBefore - this.#remaining - 1,
      turnMs: spent.longestMs,
      cpuMs: Math.max(spent.longestMs, spent.cpuMs - this.#idleShare * spent.elapsedMs),
      keptBytes: Math.max(0, spent.keptBytes - (keptBefore ?? spent.keptBytes)),
      peakBytes,
      hasHung: false,
    };
  }

  /** Reads the newest slot, and what is left to the caller, at the price of one unit. */
  async #readSlot(): Promise<void> {
    const { remaining, text } = await sendRequest(this.url, { target: '/slot' }, CALLER);
    this.#remaining = remaining;
    this.#tip = Number(/"slot":(\d+)/.exec(text)?.[1] ?? 0);
  }

  async #setScript(script: NodeScript): Promise<void> {
    const text = JSON.stringify(script);
    if (text !== this.#script) await this.node.setScript(script);
    this.#script = text;
  }

  /** Measures the share of a core that the gateway takes while only the bystander sends requests. */
  async #measureIdle(): Promise<void> {
    await sleep(IDLE_MS);
    await this.#gateway.report('measure', DEADLINE_MS);
    await sleep(IDLE_MS);
    const report = await this.#gateway.report('measure', DEADLINE_MS);
    if (report !== undefined) this.#idleShare = report.cpuMs / report.elapsedMs;
    await this.#readSlot();
    await this.node.nextCounts();
    await this.#nextWait();
  }

  /** Resolves to true once the main thread has been busy for so long that nobody is answered; else when it is over. */
  async #untilHung(mainMs: number, over: AbortSignal): Promise<boolean> {
    while (!over.aborted) {
      await sleep(POLL_MS, undefined, { signal: over }).catch(() => {});
      const busyMs = over.aborted ? 0 : (await this.#gateway.mainThreadMs()) - mainMs;
      if (busyMs > HUNG_MS && !over.aborted && (await this.#observeWait()) > HUNG_MS) return true;
    }
    return false;
  }

  /** Returns the longest wait of a bystander since the last {@link CostTestbed.#nextWait}. */
  async #observeWait(): Promise<number> {
    this.#waitedMs = Math.max(this.#waitedMs, ...(await this.#watch.nextReport()).hits);
    return this.#waitedMs;
  }

  async #nextWait(): Promise<number> {
    const waitedMs = await this.#observeWait();
    this.#waitedMs = 0;
    return waitedMs;
  }

  async #replaceGateway(): Promise<void> {
    this.hangs++;
    await this.#close();
    this.#gateway = await GatewayProcess.start([this.#upstream], { main: this.#main, set: UNLIMITED });
    this.#watch = startWatch(this.#gateway.url);
    await this.#readSlot();
    await this.#gateway.report('measure', DEADLINE_MS);
    await this.node.nextCounts();
  }

  async #close(): Promise<void> {
    await this.#watch.stop();
    await this.#gateway.close();
  }
}

const startWatch = (url: string): Bystanders => new Bystanders({ url, hitTarget: '/health' });

function describeOutcome(response: CostlyResponse | undefined): string {
  if (response === undefined) return 'none';
  const [, code] = /"error":"(\w+)"/.exec(response.text) ?? [];
  return code === undefined ? `${response.status}` : `${response.status} ${code}`;
}

/** Runs `body` with a testbed over the gateway at `main`, by default this build's. */
export const withCostTestbed = <T>(main: string | undefined, body: (testbed: CostTestbed) => Promise<T>): Promise<T> =>
  withTestScope(async (scope) => body(await CostTestbed.open(scope, main)));
