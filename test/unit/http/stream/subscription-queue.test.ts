import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import type { AccountTopics } from '../../../../src/http/stream/account-topics.ts';
import type { SocketConnection } from '../../../../src/http/stream/stream-connection.ts';
import type { MessageId, TopicList } from '../../../../src/http/stream/stream-message.ts';
import { SubscriptionQueue } from '../../../../src/http/stream/subscription-queue.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { addressFromByte } from '../../../support/token-account-fixtures.ts';

/** Opens a queue over topics whose reads the test ends. */
function open({ maxSubscriptions = 100, waitsMs = [] as number[], units = 1000 } = {}) {
  const clock = new ManualClock();
  const reads: { readonly address: string; readonly end: (fault?: GatewayError) => void }[] = [];
  const done: string[] = [];
  const errors: [MessageId, string, string | undefined][] = [];
  const connection = { hasRoom: true };
  let count = 0;
  let unitsLeft = units;
  const accountTopics = {
    findFault: () => (count >= maxSubscriptions ? new GatewayError('rate_limited', 'full') : undefined),
    subscribe: (_: unknown, { address }: { readonly address: string }) =>
      new Promise<void>((resolve, reject) => {
        count++;
        reads.push({ address, end: (fault) => (fault === undefined ? resolve() : reject(fault)) });
      }),
    unsubscribe: (_: unknown, { address }: { readonly address: string }) => void done.push(`end ${address}`),
    unsubscribeId: (_: unknown, id: number) => void done.push(`end all ${id}`),
  } as unknown as AccountTopics; // no other member is used here
  const queue = new SubscriptionQueue({
    clock,
    accountTopics,
    connection: connection as unknown as SocketConnection, // the same
    caller: {
      maxSubscriptions,
      charge(units) {
        if (units > unitsLeft) throw new GatewayError('rate_limited', 'no units', { retryAfter: 9 });
        unitsLeft -= units;
      },
      giveBack(units) {
        unitsLeft += units;
      },
      streamSlot: { consumeSubscribe: () => waitsMs.shift() ?? 0 },
    },
    replyError: (id, thrown, { address }) => errors.push([id, GatewayError.from(thrown).code, address]),
  });
  return { clock, reads, done, errors, connection, queue, unitsLeft: () => unitsLeft };
}

const listOf = (addresses: readonly string[], isBatch = true): TopicList => ({
  name: 'balance',
  commitment: undefined,
  addresses,
  isBatch,
});
const ADDRESSES = Array.from({ length: 80 }, (_, i) => addressFromByte(i + 1));
const [FIRST = '', SECOND = ''] = ADDRESSES;
/** Resolves after the next turn of the event loop. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

t.test('at most forty first values are read at one time, each end lets the next begin', async (t) => {
  const { reads, queue } = open();
  queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES) });
  t.equal(reads.length, 40);
  for (const { end } of reads.slice(0, 5)) end();
  await settle();
  t.equal(reads.length, 45);
  for (let i = 5; i < 80; i++) {
    reads[i]?.end();
    await settle();
  }
  t.same(
    reads.map(({ address }) => address),
    ADDRESSES,
  );
});

t.test('a turn of the event loop takes at most forty steps, whatever they are', async (t) => {
  const { errors, queue } = open();
  for (let id = 1; id <= 2; id++) queue.add({ op: 'subscribe', id, topics: listOf(Array(80).fill('nobody')) });
  t.equal(errors.length, 40);
  await settle();
  t.ok(errors.length <= 120);
  for (let turns = 0; turns < 4; turns++) await settle();
  t.equal(errors.length, 160);
});

t.test('nothing is read for a client that does not take what it is sent, and all goes on once it does', (t) => {
  const { reads, connection, queue } = open();
  connection.hasRoom = false;
  queue.add({ op: 'subscribe', id: 1, topics: listOf([FIRST, SECOND]) });
  t.equal(reads.length, 0);
  connection.hasRoom = true;
  queue.advance();
  t.equal(reads.length, 2);
  t.end();
});

t.test('messages are handled in their order, and an error names the address of a batch', async (t) => {
  const { reads, done, errors, queue } = open();
  queue.add({ op: 'subscribe', id: 'a', topics: listOf([FIRST, 'nobody']) });
  queue.add({ op: 'unsubscribe', id: 'b', topics: listOf([SECOND], false) });
  queue.add({ op: 'unsubscribeId', id: 7 });
  t.same(done, [`end ${SECOND}`, 'end all 7']);
  reads[0]?.end(new GatewayError('upstream_unavailable', 'nobody'));
  await settle();
  t.same(errors, [
    ['a', 'invalid_address', 'nobody'],
    ['a', 'upstream_unavailable', FIRST],
  ]);
});

t.test('an address waits for its turn, but not to be refused', (t) => {
  const { clock, reads, errors, queue } = open({ maxSubscriptions: 2, waitsMs: [0, 50, 0, 1000] });
  queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES.slice(0, 4)) });
  t.equal(reads.length, 1);
  queue.advance();
  clock.advance(49);
  t.equal(reads.length, 1);
  clock.advance(1);
  t.equal(reads.length, 2);
  t.same(errors, [
    [1, 'rate_limited', ADDRESSES[2]],
    [1, 'rate_limited', ADDRESSES[3]],
  ]);
  t.end();
});

t.test(
  'each address to subscribe to costs a unit, and a message that costs too much is refused as a whole',
  async (t) => {
    const { reads, errors, queue, unitsLeft } = open({ units: 5 });
    queue.add({ op: 'subscribe', id: 1, topics: listOf([FIRST, 'nobody', SECOND]) });
    t.same([unitsLeft(), errors.length], [3, 1], 'an invalid one costs nothing');
    t.throws(() => queue.add({ op: 'subscribe', id: 2, topics: listOf(ADDRESSES.slice(2, 6)) }), {
      code: 'rate_limited',
      retryAfter: 9,
    });
    queue.add({ op: 'unsubscribe', id: 3, topics: listOf(ADDRESSES) });
    t.same([unitsLeft(), reads.length], [3, 2]);
  },
);

t.test('a message is refused if too many addresses wait', (t) => {
  const { connection, reads, queue } = open({ maxSubscriptions: 90 });
  connection.hasRoom = false;
  for (let i = 0; i < 2; i++) queue.add({ op: 'subscribe', id: i, topics: listOf(ADDRESSES) });
  t.throws(() => queue.add({ op: 'subscribe', id: 2, topics: listOf(ADDRESSES) }), { code: 'rate_limited' });
  queue.close();
  connection.hasRoom = true;
  queue.advance();
  t.equal(reads.length, 0, 'a closed connection wants nothing');
  t.end();
});

t.test('an address for which there is no room costs nothing, one that is refused for itself does', async (t) => {
  const { reads, queue, errors, unitsLeft } = open({ maxSubscriptions: 3, units: 10 });
  queue.add({ op: 'subscribe', id: 1, topics: listOf(ADDRESSES.slice(0, 4)) });
  t.same(errors, [[1, 'rate_limited', ADDRESSES[3]]]);
  t.equal(unitsLeft(), 7);
  reads[0]?.end(new GatewayError('overloaded', 'no turn'));
  reads[1]?.end(new GatewayError('upstream_unavailable', 'none'));
  reads[2]?.end();
  await settle();
  t.same(
    errors.slice(1).map(([, code]) => code),
    ['overloaded', 'upstream_unavailable'],
  );
  t.equal(unitsLeft(), 8);
});
