import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../support/harness.ts';
import { residentBytesOf } from '../../../support/process-usage.ts';
import {
  expect,
  expectBelow,
  expectBelowAlways,
  expectNone,
  expectWithinMs,
  type Finding,
  info,
  type Row,
  type RunLength,
} from '../../findings.ts';
import { ConstantLoad } from '../constant-load.ts';
import { ALONE, SHARED, timesLogged, withFleet } from '../fleet-testbed.ts';

const REQUESTS_PER_SECOND = 2000;
const WINDOW_SECONDS = 2;
const MIB = 1 << 20;
/** Three quarters of what is sent. */
const LIMIT = (REQUESTS_PER_SECOND * WINDOW_SECONDS * 3) / 4;

/** Above what the other work of a machine adds to a p99; a request that waited for a stopped Redis would wait for seconds. */
const WAITED_MS = 250;

/** Expects that no request waits for Redis: a quiet machine shows it to 1 ms, a busy one only whether requests waited. */
function expectLonger({ isFull }: RunLength, longerMs: number): Finding {
  return expectBelowAlways('p99 longer by', longerMs, isFull ? 1 : WAITED_MS, ' ms');
}

export const redisGone: Row = {
  id: 'redis-gone',
  title: 'F7: Redis stopped and killed at 2,000 requests a second',
  run: (runLength) =>
    withFleet(async ({ redis, start }) => {
      const windows = runLength.isFull ? 15 : 5;
      const set = [`limits.free.units=${LIMIT}`, `limits.free.windowSeconds=${WINDOW_SECONDS}`];
      const gateways = await Promise.all([start('a', set), start('b', set)]);
      await waitFor(() => timesLogged(gateways, '"gateways":2') > 0, 'all gateways');
      const load = new ConstantLoad(
        gateways.map(({ url }) => url),
        REQUESTS_PER_SECOND,
      );
      const measure = async () => {
        await sleep(windows * WINDOW_SECONDS * 1000);
        return load.nextReport();
      };
      const residentMib = (): number =>
        gateways.reduce((sum, { child }) => sum + residentBytesOf(child.process.pid) / MIB, 0);

      await measure(); // code is warm
      const quiet = await measure();
      const findings: Finding[] = [info('p99 with Redis, ms', quiet.p99Ms)];
      let failed = quiet.failed;
      for (const [name, end, back] of [
        ['stopped', 'SIGSTOP', () => redis.signal('SIGCONT')],
        ['killed', 'SIGKILL', () => redis.restart()],
      ] as const) {
        const sharedBefore = timesLogged(gateways, SHARED);
        const aloneBefore = timesLogged(gateways, ALONE);
        const mibBefore = residentMib();
        load.nextReport();
        await redis.signal(end);
        const { answers, admitted, failed: failedWithout, p99Ms } = await measure();
        const ratio = admitted / (windows * LIMIT);
        // of what is left when Redis goes, half may be used up; the load is measured some milliseconds beside the windows
        const least = (windows - 0.5) / windows - 0.01;
        findings.push(
          info(`${name}: answers`, answers),
          expectLonger(runLength, p99Ms - quiet.p99Ms),
          expect(`${(100 * ratio).toFixed(1)} % of the limit admitted`, ratio >= least && ratio <= 1.1),
          expectBelow(runLength, 'resident', residentMib() - mibBefore, 32, ' MiB more'),
          expect('each gateway logged it', timesLogged(gateways, ALONE) > aloneBefore),
        );
        const sinceMs = performance.now();
        await back();
        await waitFor(() => timesLogged(gateways, SHARED) > sharedBefore, 'Redis again');
        findings.push(expectWithinMs(runLength, 'shared again', performance.now() - sinceMs, 2000));
        await sleep(WINDOW_SECONDS * 1000); // what was charged without Redis is in a window that is over
        failed += failedWithout + load.nextReport().failed;
      }
      await load.stop();
      return [...findings, expectNone('answers that are neither given nor over the limit', failed)];
    }),
};
