import { inTurn } from '../../../support/in-turn.ts';
import { anyone, Line } from '../../../support/line.ts';
import { shown, some } from '../../row.ts';
import { get } from '../http/message.ts';
import { all, atMost, grownBy, type Row, times } from '../row.ts';
import { onStage } from '../stage.ts';

const AT_ONCE = 100;
const A_SECOND = 200;
/** Of so many connections one is somebody else's. */
const OTHERS = 100;
/** Before memory is compared, all that grows once has to have grown. */
const WARM_UP = 0.2;

/** Connections that come and go as fast as they can. */
export const connects: Row = {
  id: '6',
  what: 'a flood of connections from one address',
  run: (_, pace) =>
    onStage([`limits.connections=${A_SECOND}`], async ({ url, gateway }) => {
      const count = times(pace, 3000, 20_000, 100_000);
      await flood(url, count * WARM_UP);
      const before = await gateway.rss();
      const { seconds, admitted, others, answered } = await flood(url, count);
      const after = await gateway.rss();
      return [
        shown('opened', count),
        shown('a second', count / seconds),
        atMost('let in', admitted, A_SECOND * (Math.ceil(seconds) + 1)),
        some('turned away', count - others - admitted),
        all("others' good answers", answered, others),
        grownBy(before, after, 20),
      ];
    }),
};

/** Asks for the slot on each of so many connections, and tells what came of it. */
async function flood(url: string, count: number) {
  const beganMs = performance.now();
  let [admitted, others, answered] = [0, 0, 0];
  await inTurn(Array.from({ length: count }), AT_ONCE, async (_, i) => {
    const isOther = i % OTHERS === 0;
    const line = await Line.open(url, isOther ? anyone(i) : '127.200.9.9');
    line.write(get());
    await isOver(line);
    const isAnswered = line.text.startsWith('HTTP/1.1 200');
    if (isOther) others++;
    if (isOther && isAnswered) answered++;
    if (!isOther && isAnswered) admitted++;
    line.cut();
  });
  return { seconds: (performance.now() - beganMs) / 1000, admitted, others, answered };
}

/** Until it is answered, or closed. */
const isOver = (line: Line): Promise<unknown> =>
  line.closed ? Promise.resolve() : new Promise((resolve) => line.socket.once('data', resolve).once('close', resolve));
