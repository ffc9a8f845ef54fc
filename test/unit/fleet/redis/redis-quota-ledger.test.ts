import t from 'tap';
import type { QuotaState } from '../../../../src/access/quota/quota-ledger.ts';
import { FleetSecret } from '../../../../src/fleet/redis/fleet-secret.ts';
import { RedisQuotaLedger } from '../../../../src/fleet/redis/redis-quota-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ask = { id: 'x', limit: 100, windowMs: 1000, window: 0, ageMs: 0, used: 10, want: 20, need: 10 };

/** A ledger over a Redis that grants 20 units, and tells what it is told to. */
function openLedger() {
  const told: string[] = [];
  let keys: readonly string[] = [];
  let hear: (message: Buffer) => void = () => {};
  const state = { isGone: false };
  const clock = new ManualClock();
  const ledger = new RedisQuotaLedger({
    clock,
    onAlone: () => told.push('alone'),
    onShared: () => told.push('shared'),
  });
  const joined = ledger.join('0', () => told.push('forgotten'));
  ledger.gateways = 4;
  const orFail = async <T>(value: T): Promise<T> => {
    if (state.isGone) throw new Error('gone');
    return value;
  };
  const connect = () =>
    ledger.connect({
      redis: {
        run(_, asked) {
          keys = asked;
          return orFail([20, 80, clock.now() + 1000, 1000, 1_700_000_001, 100, 1000, 1, 0]);
        },
        call: () => orFail('PONG'),
        subscribe(_, hearer) {
          hear = hearer;
          return () => {};
        },
      },
      member: 'gateway',
      prefix: 'fleet:',
      secret: new FleetSecret(Buffer.alloc(32)),
    });
  return {
    clock,
    joined,
    told,
    state,
    connect,
    keys: () => keys,
    tell: (message: string) => hear(Buffer.from(message)),
  };
}

t.test('F6: without Redis a gateway uses up its share, and in new windows its part of the limit', async (t) => {
  const { clock, joined, told, state, connect } = openLedger();
  t.match(await joined.settle([ask]), [{ share: 25, left: 0, window: 0 }], 'it is in no fleet yet');
  connect();
  const [granted] = await joined.settle([ask]);
  t.match(granted, { share: 20, left: 80 });
  state.isGone = true;
  clock.advance(100);
  const [held] = await joined.settle([{ ...ask, window: granted?.window ?? 0, used: 18, want: 40 }]);
  t.match(held, { share: 30, left: 0, endsInMs: 900 }, 'half of a fourth of what was left');
  const [other, spent] = await joined.settle([
    { ...ask, id: 'y', used: 0 },
    { ...ask, id: 'z', used: 130 },
  ]);
  t.match(other, { share: 25, left: 0, window: 0, endsInMs: 1000 });
  t.match(spent, { share: 130, left: -30 }, 'a debt');
  state.isGone = false;
  await new Promise(setImmediate); // the look before has ended
  await joined.settle([ask]); // it looks whether Redis is back, and does not wait for that
  await new Promise(setImmediate);
  t.match(await joined.settle([ask]), [{ share: 20, left: 80 }]);
  t.same(told, ['shared', 'forgotten', 'alone', 'shared', 'forgotten']);
});

t.test('F6: all gateways together use up no more than what is left when Redis goes', async (t) => {
  const { joined, state, connect, keys, tell } = openLedger();
  connect();
  const [granted] = await joined.settle([ask]);
  const window = granted?.window ?? 0;
  const tellLeft = (left: number, changes: number, ofWindow = window) =>
    tell(
      JSON.stringify([[keys()[0]?.slice('fleet:w:'.length), left, ofWindow, 900, 1_700_000_001, 100, 1000, changes]]),
    );
  tellLeft(40, 2);
  tellLeft(80, 1);
  tellLeft(8, 3, window - 1);
  state.isGone = true;
  t.match(await joined.settle([{ ...ask, window }]), [{ share: 25 }], 'half of a fourth of 40');
  t.match(await joined.settle([{ ...ask, window, used: 25 }]), [{ share: 25 }], 'that again, and no more');
  tellLeft(-5, 4);
  t.match(await joined.settle([{ ...ask, window, used: 25 }]), [{ share: 25, left: -10 }], 'of a debt no part');
});

t.test('F14: Redis gets no name of a caller, and what is told there by others is not heard', async (t) => {
  const { joined, connect, keys, tell } = openLedger();
  connect();
  const heard: QuotaState[] = [];
  joined.onLeft((left) => heard.push(left));
  await joined.settle([ask]);
  const [key = ''] = keys();
  t.match(key, /^fleet:w:[0-9a-f]{16}$/);
  const name = key.slice('fleet:w:'.length);
  const left = [name, 50, 2000, 900, 1_700_000_001, 100, 1000, 2];
  for (const message of ['', '{', 'null', '[[]]', '[null]', '[["a"]]', JSON.stringify([left.map(String)])])
    tell(message);
  tell(JSON.stringify([['0000000000000000', ...left.slice(1)]]));
  t.same(heard, []);
  tell(JSON.stringify([left]));
  t.match(heard, [{ id: 'x', left: 50, window: 2000, endsInMs: 900, limit: 100, changes: 2 }]);
});
