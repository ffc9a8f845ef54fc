import { inTurn } from '../../../support/in-turn.ts';
import { exchange } from '../../../support/raw.ts';
import { none, shown } from '../../row.ts';
import { statuses } from '../http/case.ts';
import { SMUGGLING } from '../http/smuggling.ts';
import { type Row, times } from '../row.ts';

const AT_ONCE = 200;

export const smuggling: Row = {
  id: '2',
  what: `${Object.keys(SMUGGLING).length} smuggled requests, whole and cut`,
  async run({ url }, pace) {
    const stride = times(pace, 9, 1, 1);
    const attempts = Object.entries(SMUGGLING).flatMap(([what, packet]) =>
      Array.from({ length: Math.ceil(packet.length / stride) }, (_, i) => ({ what, packet, at: i * stride })),
    );
    let [extra, open, silent] = [0, 0, 0];
    await inTurn(attempts, AT_ONCE, async ({ what, packet, at }) => {
      const packets = at === 0 ? [packet] : [packet.slice(0, at), packet.slice(at)];
      const heard = await exchange(url, packets, { answers: 0 });
      const answers = statuses(heard);
      if (answers.length > 1) extra++;
      if (answers.length === 0 && !heard.closed) silent++;
      else if (!heard.closed) open++;
      if (answers.length > 1) console.error(`   ${what}, cut at ${at}: ${answers}`);
    });
    return [
      shown('sent', attempts.length),
      shown('cut', stride === 1 ? 'at every byte' : `at every ${stride}th byte`),
      none('extra answers', extra),
      none('open behind an answer', open),
      shown('never answered', silent),
    ];
  },
};
