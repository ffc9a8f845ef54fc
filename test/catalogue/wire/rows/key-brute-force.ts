import { Pool } from 'undici';
import { generateApiKey } from '../../../../src/access/api-keys/api-key.ts';
import { guessKeys, MAX_T } from '../../../support/access/key-guessing.ts';
import { forEachConcurrent } from '../../../support/for-each-concurrent.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, expectAll, expectBelowWhenQuiet, type WireRow } from '../wire-row.ts';
import { withWireTestbed } from '../wire-testbed.ts';

const AT_ONCE = 32;
const LIMIT = 100;

/** Random guesses over HTTP, which count for the address; and near guesses in process, where timing would show most. */
export const keyBruteForce: WireRow = {
  id: '24',
  title: 'API keys by brute force, and by time',
  run: (_, runLength) =>
    withWireTestbed([`limits.free.requests=${LIMIT}`, 'limits.free.windowSeconds=600'], async ({ url }) => {
      const sent = countFor(runLength, 500, 2000, 20_000);
      const statusCounts = new Map<number, number>();
      const pool = new Pool(url, { connections: AT_ONCE });
      await forEachConcurrent(Array.from({ length: sent }), AT_ONCE, async () => {
        const headers = { 'x-api-key': generateApiKey() };
        const { statusCode, body } = await pool.request({ method: 'GET', path: '/api/v1/slot', headers });
        await body.dump();
        statusCounts.set(statusCode, (statusCounts.get(statusCode) ?? 0) + 1);
      });
      await pool.destroy();
      const tries = countFor(runLength, 20_000, 200_000, 1_000_000);
      const { accepted, tStatistic } = await withTestScope((place) => guessKeys(place.testdir(), tries));
      return [
        expectAll('random ones: 401', statusCounts.get(401) ?? 0, LIMIT),
        expectAll('then 429', statusCounts.get(429) ?? 0, sent - LIMIT),
        info('near ones', tries),
        expectNone('accepted', accepted),
        expectBelowWhenQuiet(runLength, '|t| of a wrong first to a wrong last character', Math.abs(tStatistic), MAX_T),
      ];
    }),
};
