import { waitFor } from '../../../support/harness.ts';
import { expectWithinMs, type FaultRow } from '../../findings.ts';
import { ExactReaders } from '../exact-readers.ts';
import { SLOT_MS, withFleetOn } from '../fleet-testbed.ts';
import { RedisPair } from '../redis-pair.ts';

const LEADS = 'this gateway leads the fleet"';

/** What the replica has not heard of when it is made the primary: more than a lock of the leader lasts. */
const LOST_MS = 2000;

/** An election, at most 96 slots that the leader before was allowed ahead, and the 64 that the next one leaves out. */
const PAUSE_MS = 3000 + (96 + 64) * SLOT_MS;

/** A replica of Redis takes over, and has neither the lock nor the last slots that the leader was allowed to sign. */
export const redisFailover: FaultRow = {
  id: 'failover',
  title: 'F7: Redis fails over to a replica that has lost the last two seconds',
  run: (runLength) =>
    withFleetOn(RedisPair.start, async ({ redis, start }) => {
      const gateways = await Promise.all([start('a'), start('b')]);
      await waitFor(() => gateways.some(({ hasTold }) => hasTold(LEADS)), 'a leader');
      const readers = new ExactReaders(gateways);
      await readers.readUntilExact();
      let isOver = false;
      const failingOver = redis.failOver(LOST_MS).then(() => {
        isOver = true;
      });
      await waitFor(async () => {
        await readers.readAll();
        return isOver;
      }, 'the failover');
      await failingOver;
      const sinceMs = performance.now();
      let newerAtMs = sinceMs;
      let longestMs = 0;
      for (let newest = readers.newestSlot; performance.now() - sinceMs < 2 * PAUSE_MS; ) {
        await readers.readAll();
        const nowMs = performance.now();
        longestMs = Math.max(longestMs, nowMs - newerAtMs);
        if (readers.newestSlot > newest) newerAtMs = nowMs;
        newest = readers.newestSlot;
      }
      return [...readers.findings(), expectWithinMs(runLength, 'no newer exact receipt', longestMs, PAUSE_MS)];
    }),
};
