import t from 'tap';
import { type ErrorCode, GatewayError } from '../../../../src/domain/gateway-error.ts';
import { StakeTableCache } from '../../../../src/routes/portfolio/stake-table-cache.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ACCOUNT = { address: 'a', lamports: 1n, delegation: null };

/** Opens a cache whose scans find a table at the next slot, or fail with the code of `state`. */
function open() {
  const clock = new ManualClock();
  const cache = new StakeTableCache(clock, { run: (_, scan) => scan() });
  const state: { scans: number; fails: ErrorCode | undefined; floors: (number | undefined)[]; rows: number } = {
    scans: 0,
    fails: undefined,
    floors: [],
    rows: 0,
  };
  const read = (withdrawer: string, oldestSlot = 0) =>
    cache.getOrScan({ withdrawer, oldestSlot }, async (minSlot) => {
      state.scans++;
      state.floors.push(minSlot);
      if (state.fails !== undefined) throw new GatewayError(state.fails, 'no');
      return { slot: state.scans, accounts: Array(state.rows).fill(ACCOUNT) };
    });
  return { clock, state, read };
}

t.test('a table is kept until it is too old, and concurrent readers share a scan', async (t) => {
  const { state, read } = open();
  t.match(await Promise.all([read('a'), read('a'), read('b')]), [{ slot: 1 }, { slot: 1 }, { slot: 2 }]);
  t.match(await read('a', 1), { slot: 1 });
  t.match(await read('a', 2), { slot: 3 });
  t.equal(state.scans, 3);
});

t.test('no scan is older than a table before it, even one that had to go', async (t) => {
  const { state, read } = open();
  await read('a');
  await read('a', 2);
  t.same(state.floors, [undefined, 1]);
  state.rows = 49_999;
  await read('large');
  await read('a');
  t.same(state.floors.slice(2), [1, 2], 'the second of a was there until the large one came');
});

t.test('a refusal is null and remembered for five minutes, a timeout too; any other failure is thrown', async (t) => {
  const { clock, state, read } = open();
  state.fails = 'overloaded';
  await t.rejects(read('a'), { code: 'overloaded' });
  for (const code of ['result_too_large', 'upstream_timeout'] as const) {
    state.fails = code;
    t.equal(await read('a'), null);
    state.fails = undefined;
    t.equal(await read('a'), null);
    clock.advance(300_000);
  }
  t.match(await read('a'), { slot: 4 });
});
