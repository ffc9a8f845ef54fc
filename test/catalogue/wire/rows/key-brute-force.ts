import { guessKeys, MAX_T } from '../../../support/access/key-guessing.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, info } from '../../findings.ts';
import { countFor, expectBelowWhenQuiet, type WireRow } from '../wire-row.ts';

export const keyBruteForce: WireRow = {
  id: 'key-brute-force',
  title: 'API keys that are right but for one character, by their time',
  async run(_, runLength) {
    const tries = countFor(runLength, 20_000, 200_000, 1_000_000);
    const { accepted, tStatistic } = await withTestScope((place) => guessKeys(place.testdir(), tries));
    return [
      info('guesses', tries),
      expectNone('accepted', accepted),
      expectBelowWhenQuiet(runLength, '|t| of a wrong first to a wrong last character', Math.abs(tStatistic), MAX_T),
    ];
  },
};
