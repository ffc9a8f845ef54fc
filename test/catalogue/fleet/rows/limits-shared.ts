import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectWithinMs, type FaultRow, type Finding } from '../../findings.ts';
import { ALONE, type FleetGateway, SHARED, timesTold, withFleet } from '../fleet-testbed.ts';

const LIMIT = 200;
const WINDOW_SECONDS = 3;

/** What a gateway may let in before the ledger has spoken: so much in all. */
const CREDIT = LIMIT / 2;

/** What all gateways may let in without Redis. */
const HIGHEST_ALONE = Math.ceil(1.1 * LIMIT);

/** Sends requests until three times the limit was sent; which gateway gets the next one is told by its number. */
interface Load {
  readonly name: string;
  readonly concurrency: number;
  readonly gatewayOf: (i: number, count: number) => number;
}

const LOADS: readonly Load[] = [
  { name: 'even', concurrency: 4, gatewayOf: (i, count) => i % count },
  { name: 'one-sided', concurrency: 4, gatewayOf: () => 0 },
  { name: 'skewed', concurrency: 4, gatewayOf: (i, count) => (i % 10 < 9 ? 0 : 1 + (i % (count - 1))) },
  { name: 'shifting', concurrency: 4, gatewayOf: (i, count) => Math.floor(i / 50) % count },
  { name: 'in bursts', concurrency: 64, gatewayOf: (i, count) => Math.floor(i / 16) % count },
];

interface Admitted {
  /** Those sent: fewer than planned where they would have come into the next window. */
  readonly sent: number;
  readonly count: number;
  readonly others: number;
  readonly slowestMs: number;
}

/** One limit over gateways, one of which has workers, with Redis there, standing still, gone, and back without its memory. */
export const limitsShared: FaultRow = {
  id: '51',
  title: 'F6, F7: one limit at all gateways, also without Redis (rows 51 and 52)',
  run: (runLength) =>
    withFleet(async ({ redis, start }) => {
      const set = [`limits.free.requests=${LIMIT}`, `limits.free.windowSeconds=${WINDOW_SECONDS}`];
      const names = runLength.isFull ? ['a', 'b', 'c', 'd'] : ['a', 'b'];
      const gateways: FleetGateway[] = await Promise.all(
        names.map((name) => start(name, [...set, `workers.count=${name === 'b' ? 2 : 0}`])),
      );
      const size = `"gateways":${gateways.length}`;
      await waitFor(() => timesTold(gateways, size) > 0, 'all gateways');

      const send = async ({ concurrency, gatewayOf }: Load, share = 3): Promise<Admitted> => {
        let [sent, count, others, slowestMs] = [0, 0, 0, 0];
        const endMs = performance.now() + WINDOW_SECONDS * 900;
        const sendOneByOne = async (): Promise<void> => {
          while (sent < share * LIMIT && performance.now() < endMs) {
            const gateway = gateways[gatewayOf(sent++, gateways.length)];
            const sinceMs = performance.now();
            const { status } = (await gateway?.get('/slot')) ?? { status: 0 };
            slowestMs = Math.max(slowestMs, performance.now() - sinceMs);
            if (status === 200) count++;
            else if (status !== 429) others++;
          }
        };
        await Promise.all(Array.from({ length: concurrency }, sendOneByOne));
        return { sent, count, others, slowestMs };
      };
      /** Lets all windows end. */
      const untilFresh = () => sleep(WINDOW_SECONDS * 1000 + 300);
      const [even] = LOADS as readonly [Load];
      const findings: Finding[] = [];
      const expectAdmitted = (name: string, { sent, count }: Admitted, least: number, most: number): void => {
        const text = `${name}: ${count} of ${LIMIT} (${least} to ${most}), ${sent} sent`;
        findings.push(expect(text, count >= Math.min(least, 0.95 * sent) && count <= most));
      };
      let failed = 0;
      let slowestMs = 0;
      const sendFresh = async (load: Load): Promise<Admitted> => {
        await untilFresh();
        const admitted = await send(load);
        failed += admitted.others;
        slowestMs = Math.max(slowestMs, admitted.slowestMs);
        return admitted;
      };
      await send(even, 0.1); // the ledger is known, and code is warm
      for (const load of LOADS) expectAdmitted(load.name, await sendFresh(load), 0.95 * LIMIT, LIMIT + CREDIT);

      await untilFresh();
      await redis.signal('SIGSTOP');
      await waitFor(async () => {
        await send(even, 0.02);
        return timesTold(gateways, ALONE) === 1;
      }, 'an alarm');
      // Of the part of the gateway with two workers each has a half, and the kernel may lead all connections to one.
      const leastAlone = LIMIT * (1 - 1 / (2 * gateways.length));
      expectAdmitted('Redis stands still', await sendFresh(even), 0.95 * leastAlone, HIGHEST_ALONE);
      expectAdmitted(
        'the same, one-sided',
        await sendFresh(LOADS[1] as Load),
        (0.95 * LIMIT) / gateways.length,
        HIGHEST_ALONE / gateways.length,
      );
      await redis.signal('SIGCONT');
      const sinceMs = performance.now();
      await waitFor(async () => {
        await send(even, 0.02);
        return timesTold(gateways, SHARED) === 2;
      }, 'Redis again');
      const resyncMs = performance.now() - sinceMs;
      expectAdmitted('Redis again', await sendFresh(even), 0.95 * LIMIT, LIMIT + CREDIT);

      await untilFresh();
      const before = await send(even, 0.5);
      await redis.command('FLUSHALL');
      const after = await send(even, 1);
      const both = { ...after, sent: before.sent + after.sent, count: before.count + after.count };
      expectAdmitted('Redis that forgot in mid-window', both, 0.95 * LIMIT, 1.3 * LIMIT);
      return [
        ...findings,
        expectNone('answers that are neither given nor over the limit', failed),
        expectWithinMs(runLength, 'slowest answer', slowestMs, 250),
        expectWithinMs(runLength, 'limits shared again', resyncMs, 2000),
        expect('F14: no address in Redis', !/127\.0\.0\.1|2130706433/.test(await redis.contents())),
      ];
    }),
};
