import t from 'tap';
import { guessKeys } from '../../../support/access/key-guessing.ts';

// Next to other work a few tries say nothing about timing: the catalogue's row tests that.
t.test('24: guesses that are wrong in one character are never accepted', async (t) => {
  t.equal((await guessKeys(t.testdir(), 10_000)).accepted, 0);
});
