import { Pool } from 'undici';
import { generateApiKey } from '../../../../src/access/api-keys/api-key.ts';
import { guess, MAX_T } from '../../../support/access/key-guessing.ts';
import { inTurn } from '../../../support/in-turn.ts';
import { inPlace } from '../../../support/place.ts';
import { none, shown } from '../../row.ts';
import { all, calmly, type Row, times } from '../row.ts';
import { onStage } from '../stage.ts';

const AT_ONCE = 32;
const LIMIT = 100;

/** Guesses at random over the wire, which the address pays for; and near ones within, where time could tell most. */
export const guessed: Row = {
  id: '24',
  what: 'API keys by brute force, and by time',
  run: (_, pace) =>
    onStage([`limits.free.requests=${LIMIT}`, 'limits.free.windowSeconds=600'], async ({ url }) => {
      const sent = times(pace, 500, 2000, 20_000);
      const said = new Map<number, number>();
      const pool = new Pool(url, { connections: AT_ONCE });
      await inTurn(Array.from({ length: sent }), AT_ONCE, async () => {
        const headers = { 'x-api-key': generateApiKey() };
        const { statusCode, body } = await pool.request({ method: 'GET', path: '/api/v1/slot', headers });
        await body.dump();
        said.set(statusCode, (said.get(statusCode) ?? 0) + 1);
      });
      await pool.destroy();
      const tries = times(pace, 20_000, 200_000, 1_000_000);
      const { opened, t } = await inPlace((place) => guess(place.testdir(), tries));
      return [
        all('random ones: 401', said.get(401) ?? 0, LIMIT),
        all('then 429', said.get(429) ?? 0, sent - LIMIT),
        shown('near ones', tries),
        none('opened', opened),
        calmly(pace, '|t| of a wrong first to a wrong last character', Math.abs(t), MAX_T),
      ];
    }),
};
