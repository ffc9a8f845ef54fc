import t from 'tap';
import { ownTurn } from '../../../src/domain/own-turn.ts';

t.test('no two slices of long work share a turn of the event loop', async (t) => {
  const slices: string[] = [];
  let turns = 0;
  let counting = setImmediate(function count() {
    turns++;
    counting = setImmediate(count);
  });
  t.teardown(() => clearImmediate(counting));
  const work = async (name: string): Promise<number[]> => {
    const ran: number[] = [];
    for (let i = 0; i < 3; i++) {
      await ownTurn();
      ran.push(turns);
      slices.push(name);
    }
    return ran;
  };
  const ran = (await Promise.all([work('a'), work('b'), work('c')])).flat();
  t.equal(new Set(ran).size, ran.length, 'each in a turn of its own');
  t.strictSame(slices.slice(0, 6), ['a', 'b', 'c', 'a', 'b', 'c'], 'in turns');
});
