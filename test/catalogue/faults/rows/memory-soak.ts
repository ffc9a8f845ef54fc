import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectBelow, expectNone, expectSome, type FaultRow, info } from '../../findings.ts';
import { type FaultTestbed, withFaultTestbed } from '../fault-testbed.ts';
import { garbled, halfOpen, latency, reset, stalled, throttled, truncated } from '../proxy/connection-faults.ts';
import { answerFindings } from './answer-findings.ts';

const FULL_MS = 3_600_000;
const SHORT_MS = 30_000;
/** The time under each fault, and the time to recover. */
const FAULT_MS = 1500;
const CALM_MS = 1500;
/** Each so many faults a node is killed. */
const KILL_EVERY = 6;
const MIB = 1 << 20;
const TEN_MINUTES_MS = 600_000;

const FAULTS = [latency(300), stalled, halfOpen, truncated(500), garbled(307), reset, throttled(4000)];

/** Cache, live accounts and the memory of who reads what are bounded: what they hold up to that is no growth. */
const SOON_FULL = ['cache.bytes=4194304', 'watch.accounts=1000'];

interface Sample {
  readonly atMs: number;
  readonly keptMib: number;
  readonly residentMib: number;
  readonly handles: number;
}

/** One node after the other gets each fault, or is killed, under load: memory and handles stay as they are. */
export const memorySoak: FaultRow = {
  id: '49',
  title: 'all of these for long: memory and handles',
  run: (runLength) =>
    withFaultTestbed(
      { proxied: true, load: { requestsPerSecond: 200 }, set: [...SOON_FULL, 'upstream.timeoutMs=1000'] },
      async (testbed) => {
        const samples: Sample[] = [];
        const beganMs = performance.now();
        const endMs = beganMs + (runLength.isFull ? FULL_MS : SHORT_MS);
        for (let i = 0; performance.now() < endMs; i++) {
          await breakNode(testbed, i);
          samples.push(await measure(testbed, performance.now() - beganMs));
        }
        const warm = samples.slice(Math.floor(samples.length / 3));
        const half = Math.floor(warm.length / 2);
        const growth = slopeOf(warm.map(({ atMs, keptMib }) => [atMs / TEN_MINUTES_MS, keptMib]));
        const most = (list: readonly Sample[], of: 'handles' | 'residentMib'): number =>
          Math.max(...list.map((sample) => sample[of]));
        const [before, after] = [warm.slice(0, half), warm.slice(half)];
        return [
          info('faults', samples.length),
          ...(runLength.isFull ? [expectBelow(runLength, 'kept memory grows in 10 min by', growth, 1, ' MiB')] : []),
          info('kept, MiB', warm.at(-1)?.keptMib ?? 0),
          expect(
            `resident at most ${most(before, 'residentMib').toFixed(0)}, then ${most(after, 'residentMib').toFixed(0)} MiB`,
            most(after, 'residentMib') < 1.2 * most(before, 'residentMib'),
          ),
          expect(
            `handles at most ${most(before, 'handles')}, then ${most(after, 'handles')}`,
            most(after, 'handles') <= 1.2 * most(before, 'handles'),
          ),
          expectSome('samples', warm.length),
          expectNone('ends of the gateway', testbed.gateway.exitReason === undefined ? 0 : 1),
          ...answerFindings(testbed.load.takeTally()),
        ];
      },
    ),
};

async function breakNode(testbed: FaultTestbed, i: number): Promise<void> {
  const node = i % testbed.proxies.length;
  if (i % KILL_EVERY === KILL_EVERY - 1) {
    await testbed.kill(node);
    await sleep(FAULT_MS);
    await testbed.restart(node);
  } else {
    const fault = FAULTS[i % FAULTS.length] ?? reset;
    testbed.proxies[node]?.apply(fault, { hidesEnds: fault === halfOpen });
    await sleep(FAULT_MS);
    testbed.proxies[node]?.heal();
  }
  await sleep(CALM_MS);
}

async function measure({ gateway }: FaultTestbed, atMs: number): Promise<Sample> {
  const { keptBytes, residentBytes } = await gateway.memory();
  const handles = readdirSync(`/proc/${gateway.child.process.pid}/fd`).length;
  return { atMs, keptMib: keptBytes / MIB, residentMib: residentBytes / MIB, handles };
}

/** Returns the slope of the line with the least squares through these points. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (index: 0 | 1): number => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
