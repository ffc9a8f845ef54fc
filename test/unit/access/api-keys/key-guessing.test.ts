import t from 'tap';
import { guessKeys } from '../../../support/access/key-guessing.ts';

// Next to other work a few tries say nothing about timing: the catalogue's row tests that.
t.test('24: of guesses that are right but for one character none opens anything', async (t) => {
  t.equal((await guessKeys(t.testdir(), 10_000)).accepted, 0);
});
