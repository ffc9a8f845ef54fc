import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { percentile } from '../../support/percentile.ts';
import { withTestScope } from '../../support/test-scope.ts';
import { type Finding, info } from '../findings.ts';
import { Bystanders } from './bystanders.ts';
import { MeasuredGateway, type ProbeReport } from './measured-gateway.ts';
import type { NodeScript } from './node-answers.ts';
import { CountingNode } from './scripted-node.ts';
import { type CostlyRequest, sendRequest } from './send-attempt.ts';

/** How a row runs. */
export interface RowOptions {
  /** The built `main.js`; undefined for this build's. */
  readonly main: string | undefined;
  readonly isFull: boolean;
}

/** A row: the worst that one free caller can do in one way. */
export interface CostRow {
  readonly id: string;
  readonly title: string;
  run(options: RowOptions): Promise<readonly Finding[]>;
}

/** What an attacker has to do with. */
export interface AttackWorld {
  readonly url: string;
  readonly gateway: MeasuredGateway;
  readonly cluster: EmbeddedCluster;
  readonly node: CountingNode;
  /** Aborted when the attack is over. */
  readonly signal: AbortSignal;
  /** Sends a request of the attacker; counts its status. */
  send(request: CostlyRequest): Promise<number>;
}

/** An attack on a gateway with the limits that it ships with. */
export interface Attack {
  readonly id: string;
  readonly title: string;
  /** Further settings. */
  readonly set?: readonly string[];
  readonly script?: NodeScript;
  /** Calls whose answers the node builds beforehand. */
  readonly warmUp?: readonly (readonly [method: string, ...params: unknown[]])[];
  readonly coldAtOnce?: number;
  readonly coldTarget?: string;
  /** Attacks until the signal is aborted. */
  attack(world: AttackWorld): Promise<void>;
  /** Findings of the attack itself, taken while it still runs. */
  readonly findings?: (world: AttackWorld) => Promise<readonly Finding[]>;
}

const ATTACKER = '127.0.0.2';
const MiB = 1024 * 1024;
const RAMP_MS = 1000;
/** Percentiles below these are within what a machine's other work makes. */
const QUICK_COLD_MS = 5;
const QUICK_HIT_MS = 2;
const MAX_TURN_MS = 20;
const MAX_COLD_RATIO = 3;
const MAX_HIT_RATIO = 2;
/** The setting `drainMs`, less than its default to save time, and the time that the gateway may take beyond it. */
const DRAIN_MS = 4000;
const MAX_END_MS = DRAIN_MS + 1000;
const PATIENCE_MS = 20_000;

/** Makes a row of an attack: bystanders are measured without it, then with it; at last SIGTERM is sent in its midst. */
export const attackRow = (attack: Attack): CostRow => ({
  id: attack.id,
  title: attack.title,
  run: (options) => runAttack(attack, options),
});

function runAttack(attack: Attack, { main, isFull }: RowOptions): Promise<readonly Finding[]> {
  const { set = [], script = {}, coldAtOnce = 1, coldTarget = '/balance/$address' } = attack;
  return withTestScope(async (scope) => {
    const cluster = await startEmbeddedCluster({ transactionsPerSlot: 0 });
    scope.teardown(() => cluster.close());
    const node = await CountingNode.start(cluster.url);
    scope.teardown(() => node.close());
    const gateway = await MeasuredGateway.start({
      main,
      upstream: `${node.url},${cluster.wsUrl}`,
      set: [`drainMs=${DRAIN_MS}`, ...set],
    });
    scope.teardown(() => gateway.close());
    await node.setScript(script);
    for (const [method, ...params] of attack.warmUp ?? [])
      await fetch(node.url, { method: 'POST', body: JSON.stringify({ id: 1, method, params }) }).then((r) =>
        r.arrayBuffer(),
      );
    const bystanders = new Bystanders({ url: gateway.url, coldAtOnce, coldTarget });
    scope.teardown(() => bystanders.stop());
    await sleep(RAMP_MS);
    await bystanders.takeReport();
    await gateway.resetPeak();
    const restingBytes = gateway.peakBytes();
    await gateway.report('take', PATIENCE_MS);
    await sleep(isFull ? 10_000 : 4000);
    const quiet = await bystanders.takeReport();
    const rested = await gateway.report('take', PATIENCE_MS);
    await node.takeCounts();

    const over = new AbortController();
    setMaxListeners(0, over.signal); // each request in flight has one
    const statuses: Record<string, number> = {};
    const send = async (request: CostlyRequest): Promise<number> => {
      const { status } = await sendRequest(gateway.url, request, ATTACKER, over.signal).catch(() => ({ status: 0 }));
      if (!over.signal.aborted) statuses[status] = (statuses[status] ?? 0) + 1;
      return status;
    };
    const world: AttackWorld = { url: gateway.url, gateway, cluster, node, signal: over.signal, send };
    const attacking = attack.attack(world).catch((thrown: unknown) => {
      if (!over.signal.aborted) throw thrown;
    });
    const attackMs = isFull ? 30_000 : 10_000;
    await Promise.race([sleep(attackMs), attacking]);
    const under = await bystanders.takeReport();
    const spent = await gateway.report('take', 2000);
    const { calls, bytes } = await node.takeCounts();
    const peakBytes = gateway.peakBytes() - restingBytes;
    const more = (await attack.findings?.(world)) ?? [];
    const answers = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
    const endMs = await gateway.terminate(PATIENCE_MS);
    over.abort();
    await attacking;
    return [
      info('attacker got', answers.join(', ') || 'nothing'),
      ...latencyFindings('cold reads', quiet.cold, under.cold, QUICK_COLD_MS, MAX_COLD_RATIO, isFull),
      ...latencyFindings('hits', quiet.hits, under.hits, QUICK_HIT_MS, MAX_HIT_RATIO, isFull),
      failureFinding(under.failures),
      info('CPU', spent === undefined ? 'all' : `${Math.round((100 * spent.cpuMs) / spent.elapsedMs)}%`),
      turnFinding(spent?.longestMs),
      longTurnsFinding(spent, rested),
      info(
        'calls',
        Object.values(calls).reduce((sum, count) => sum + count, 0),
      ),
      info('read', `${(Object.values(bytes).reduce((sum, each) => sum + each, 0) / MiB).toFixed(0)} MiB`),
      info('peak', `+${(peakBytes / MiB).toFixed(0)} MiB`),
      ...more,
      {
        text: `SIGTERM ended it after ${endMs === Number.POSITIVE_INFINITY ? `more than ${PATIENCE_MS}` : endMs.toFixed(0)} ms (<= ${MAX_END_MS})`,
        isMet: endMs <= MAX_END_MS,
      },
    ];
  });
}

/** Compares the 99th percentiles. Only a full run, on a machine with nothing else to do, fails for a miss. */
function latencyFindings(
  what: string,
  quiet: readonly number[],
  under: readonly number[],
  quickMs: number,
  maxRatio: number,
  isFull: boolean,
): readonly Finding[] {
  const [before, during] = [percentile(quiet, 0.99), percentile(under, 0.99)];
  const ratio = during / Math.max(quickMs, before);
  return [
    {
      text: `${under.length} ${what} p99 ${before.toFixed(1)} -> ${during.toFixed(1)} ms, ratio ${ratio.toFixed(1)} (<= ${maxRatio})`,
      isMet: ratio <= maxRatio,
      isTolerated: !isFull,
    },
  ];
}

/** Compares the longest turn, which the search holds to the bound request by request. */
const turnFinding = (longestMs: number | undefined): Finding => ({
  text: `longest turn ${longestMs === undefined ? 'longer than the row' : `${longestMs.toFixed(0)} ms`} (<= ${MAX_TURN_MS})`,
  isMet: longestMs !== undefined && longestMs <= MAX_TURN_MS,
  isTolerated: longestMs !== undefined,
});

const MAX_LONG_TURNS = 0.01;

const longTurnShare = ({ longTurnsMs, elapsedMs }: ProbeReport): number => longTurnsMs / elapsedMs;

/** Compares the time in turns above 2 ms that the attack adds to that of the quiet gateway. */
function longTurnsFinding(spent: ProbeReport | undefined, rested: ProbeReport | undefined): Finding {
  const quiet = rested === undefined ? 0 : longTurnShare(rested);
  const share = spent === undefined ? 1 : longTurnShare(spent);
  const percent = (part: number): string => `${(100 * part).toFixed(2)}%`;
  return {
    text: `turns above 2 ms ${percent(quiet)} -> ${percent(share)} of the time (<= ${percent(MAX_LONG_TURNS)} more)`,
    isMet: share - quiet <= MAX_LONG_TURNS,
    isTolerated: true,
  };
}

function failureFinding(failures: Readonly<Record<string, number>>): Finding {
  const count = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const reasons = Object.entries(failures).map(([reason, each]) => `${each} x ${reason}`);
  return { text: `failed ${count}${count === 0 ? '' : ` (${reasons.join(', ')})`}`, isMet: count === 0 };
}

const PAUSE_MS = 50;

/** Sends requests with so many at once until the attack is over; after a refusal it pauses for a moment. */
export async function flood(
  world: AttackWorld,
  atOnce: number,
  nextRequest: (i: number) => CostlyRequest,
): Promise<void> {
  let sent = 0;
  const sendAgain = async (): Promise<void> => {
    while (!world.signal.aborted) {
      const status = await world.send(nextRequest(sent++));
      if (status === 429 || status === 503 || status === 0) await sleep(PAUSE_MS, undefined, { ref: false });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendAgain));
}
