import t from 'tap';
import { guessKeys } from '../../../support/access/key-guessing.ts';

// Beside other work a few tries tell nothing of time: that is judged by the row of the catalogue.
t.test('24: of guesses that are right but for one character none opens anything', async (t) => {
  t.equal((await guessKeys(t.testdir(), 10_000)).accepted, 0);
});
