import { LEFT_OUT_SLOTS } from '../../../../src/gateway/fleet/leadership/lead-script.ts';
import { hasLed } from '../../../support/fleet-gateway.ts';
import { waitFor } from '../../../support/harness.ts';
import { expectWithinMs, type Row } from '../../findings.ts';
import { ExactReaders } from '../exact-readers.ts';
import { SLOT_MS, withFleetOn } from '../fleet-testbed.ts';
import { RedisPair } from '../redis-pair.ts';

/** What the replica has not received when it becomes the primary: more than a lock of the leader lasts. */
const LOST_MS = 2000;

/** An election, and the slots that the next leader leaves out. */
const PAUSE_MS = 3000 + LEFT_OUT_SLOTS * SLOT_MS;

export const redisFailover: Row = {
  id: 'redis-failover',
  title: 'F7: Redis fails over to a replica that has lost the last two seconds',
  run: (runLength) =>
    withFleetOn(RedisPair.start, async ({ redis, start }) => {
      const gateways = await Promise.all([start('a'), start('b')]);
      await waitFor(() => gateways.some(({ child }) => hasLed(child)), 'a leader');
      const readers = new ExactReaders(gateways);
      await readers.readUntilExact();
      await Promise.all([redis.failOver(LOST_MS), readers.readFor(LOST_MS)]);
      const longestMs = await readers.readFor(2 * PAUSE_MS);
      return [...readers.findings(), expectWithinMs(runLength, 'no newer exact receipt', longestMs, PAUSE_MS)];
    }),
};
