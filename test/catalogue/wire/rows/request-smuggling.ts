import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { exchange } from '../../../support/raw-http.ts';
import { expectNone, info } from '../../findings.ts';
import { statuses } from '../http/http-case.ts';
import { SMUGGLED_REQUESTS } from '../http/smuggling-cases.ts';
import { countFor, type WireRow } from '../wire-row.ts';

const CONCURRENT = 200;

export const requestSmuggling: WireRow = {
  id: 'request-smuggling',
  title: `${Object.keys(SMUGGLED_REQUESTS).length} smuggled requests, whole and cut`,
  async run({ url }, runLength) {
    const stride = countFor(runLength, 9, 1, 1);
    const attempts = Object.entries(SMUGGLED_REQUESTS).flatMap(([what, packet]) =>
      Array.from({ length: Math.ceil(packet.length / stride) }, (_, i) => ({ what, packet, at: i * stride })),
    );
    let [extra, open, silent] = [0, 0, 0];
    await forEachConcurrent(attempts, CONCURRENT, async ({ what, packet, at }) => {
      const packets = at === 0 ? [packet] : [packet.slice(0, at), packet.slice(at)];
      const exchanged = await exchange(url, packets, { responses: 0 });
      const answers = statuses(exchanged);
      if (answers.length > 1) extra++;
      if (answers.length === 0 && !exchanged.closed) silent++;
      else if (!exchanged.closed) open++;
      if (answers.length > 1) console.error(`   ${what}, cut at ${at}: ${answers}`);
    });
    return [
      info('sent', attempts.length),
      info('cut', stride === 1 ? 'at every byte' : `at every ${stride}th byte`),
      expectNone('extra answers', extra),
      expectNone('open behind an answer', open),
      info('never answered', silent),
    ];
  },
};
