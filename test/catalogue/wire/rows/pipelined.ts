import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { inTurn } from '../../../support/in-turn.ts';
import { answersIn, exchange } from '../../../support/raw.ts';
import { none, some } from '../../row.ts';
import { request } from '../http/message.ts';
import { all, type Row, times } from '../row.ts';

const DEPTH = 16;
/** More of one caller at once would be refused, not read. */
const AT_ONCE = 8;
const HITS = ['slot', 'epoch', 'performance', 'priority-fee'];

/** Sixteen requests in one packet. */
export const pipelined: Row = {
  id: '11',
  what: `${DEPTH} requests in one packet`,
  async run({ url, get }, pace) {
    const rounds = times(pace, 20, 200, 1000);
    for (const path of HITS) await get(`/${path}`);
    let [inOrder, wrong] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const paths = Array.from({ length: DEPTH }, (_, i) => HITS[(i * (round + 1)) % HITS.length]);
      const packet = paths.map((path) => request(`GET /api/v1/${path}`)).join('');
      const answers = answersIn((await exchange(url, [packet], { answers: DEPTH })).text);
      // What has just grown too old to be a hit is read or signed anew, and what is behind it is cut off.
      if (answers.length === DEPTH) inOrder++;
      wrong += answers.filter(({ body }, i) => !body.includes(`"request":"GET /api/v1/${paths[i]}"`)).length;
    }
    let [cutOff, answered] = [0, 0];
    await inTurn(Array.from({ length: rounds }), AT_ONCE, async () => {
      const addresses = Array.from({ length: DEPTH }, () => bs58.encode(randomBytes(32)));
      const packet = addresses.map((address) => request(`GET /api/v1/balance/${address}`)).join('');
      const { text, closed } = await exchange(url, [packet]);
      if (closed) cutOff++;
      if (text !== '') answered++;
    });
    return [
      some('hits: answered all', inOrder),
      none('out of order', wrong),
      all('misses: cut off', cutOff, rounds),
      none('of which answered', answered),
    ];
  },
};
