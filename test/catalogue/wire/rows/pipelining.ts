import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { exchange, parseResponses } from '../../../support/raw-http.ts';
import { expectNone, expectSome } from '../../findings.ts';
import { request } from '../http/raw-request.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';

const DEPTH = 16;
/** Concurrency: more requests of one caller would be refused. */
const AT_ONCE = 8;
const HITS = ['slot', 'epoch', 'performance', 'priority-fee'];

/** Sixteen requests in one packet. */
export const pipelining: WireRow = {
  id: '11',
  title: `${DEPTH} requests in one packet`,
  async run({ url, get }, runLength) {
    const rounds = countFor(runLength, 20, 200, 1000);
    for (const path of HITS) await get(`/${path}`);
    let [inOrder, wrong] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const paths = Array.from({ length: DEPTH }, (_, i) => HITS[(i * (round + 1)) % HITS.length]);
      const packet = paths.map((path) => request(`GET /api/v1/${path}`)).join('');
      const answers = parseResponses((await exchange(url, [packet], { responses: DEPTH })).text);
      // A hit that has just expired is read or signed again, and the requests after it are cut off.
      if (answers.length === DEPTH) inOrder++;
      wrong += answers.filter(({ body }, i) => !body.includes(`"request":"GET /api/v1/${paths[i]}"`)).length;
    }
    let [cutOff, answered] = [0, 0];
    await forEachConcurrent(Array.from({ length: rounds }), AT_ONCE, async () => {
      const addresses = Array.from({ length: DEPTH }, () => bs58.encode(randomBytes(32)));
      const packet = addresses.map((address) => request(`GET /api/v1/balance/${address}`)).join('');
      const { text, closed } = await exchange(url, [packet]);
      if (closed) cutOff++;
      if (text !== '') answered++;
    });
    return [
      expectSome('hits: answered all', inOrder),
      expectNone('out of order', wrong),
      expectAll('misses: cut off', cutOff, rounds),
      expectNone('of which answered', answered),
    ];
  },
};
