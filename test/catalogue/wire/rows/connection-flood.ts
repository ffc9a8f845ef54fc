import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { loopbackAddress, RawConnection } from '../../../support/raw-connection.ts';
import { expectSome, info } from '../../findings.ts';
import { get } from '../http/raw-request.ts';
import { countFor, expectAll, expectAtMost, expectGrowth, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const AT_ONCE = 100;
const A_SECOND = 200;
/** One in this many connections is another caller's. */
const OTHERS = 100;
/** Share of the load that runs before memory is compared, so that one-time growth is over. */
const WARM_UP = 0.2;

/** Connections opened and closed as fast as possible. */
export const connectionFlood: WireRow = {
  id: '6',
  title: 'a flood of connections from one address',
  run: (_, pace) =>
    withWireTestbed([`limits.connections=${A_SECOND}`], async ({ url, gateway }) => {
      const count = countFor(pace, 3000, 20_000, 100_000);
      await flood(url, count * WARM_UP);
      const before = await gateway.memory();
      const { seconds, admitted, others, answered } = await flood(url, count);
      const after = await gateway.memory();
      return [
        info('opened', count),
        info('a second', count / seconds),
        expectAtMost('accepted', admitted, A_SECOND * (Math.ceil(seconds) + 1)),
        expectSome('rejected', count - others - admitted),
        expectAll("others' good answers", answered, others),
        ...expectGrowth(before, after, { kept: 2, resident: 40 }),
      ];
    }),
};

/** Requests the slot on many connections and counts the outcomes. */
async function flood(url: string, count: number) {
  const beganMs = performance.now();
  let [admitted, others, answered] = [0, 0, 0];
  await forEachConcurrent(Array.from({ length: count }), AT_ONCE, async (_, i) => {
    const isOther = i % OTHERS === 0;
    const connection = await RawConnection.open(url, isOther ? loopbackAddress(i) : '127.200.9.9');
    connection.write(get());
    await waitForEnd(connection);
    const isAnswered = connection.text.startsWith('HTTP/1.1 200');
    if (isOther) others++;
    if (isOther && isAnswered) answered++;
    if (!isOther && isAnswered) admitted++;
    connection.reset();
  });
  return { seconds: (performance.now() - beganMs) / 1000, admitted, others, answered };
}

/** Waits until the connection is answered or closed. */
const waitForEnd = (connection: RawConnection): Promise<unknown> =>
  connection.closed
    ? Promise.resolve()
    : new Promise((resolve) => connection.socket.once('data', resolve).once('close', resolve));
