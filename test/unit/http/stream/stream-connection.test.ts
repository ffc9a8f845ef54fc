import t from 'tap';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import { SocketConnection } from '../../../../src/http/stream/stream-connection.ts';

const CALLER = {
  name: 'somebody',
  maxSubscriptions: 10,
  admit: <T>(work: () => Promise<T>) => work(),
  newCost: () => new RequestCost('somebody', false),
};

/** Opens a connection over a socket that keeps what it is sent until the test takes it. */
function open(maxUnsentBytes = 100) {
  const sent: string[] = [];
  let unsentBytes = 0;
  let drops = 0;
  const connection = new SocketConnection(CALLER);
  const socket = {
    send(frame: string): number {
      sent.push(frame);
      unsentBytes += Buffer.byteLength(frame);
      return 1;
    },
    getBufferedAmount: () => unsentBytes,
  } as unknown as Parameters<SocketConnection['open']>[0]['socket']; // the socket of the engine takes more than text
  connection.open({ socket, maxUnsentBytes, onDrop: () => drops++ });
  return {
    connection,
    sent,
    unsent: () => unsentBytes,
    drops: () => drops,
    drain(): void {
      unsentBytes = 0;
      connection.sendReplies();
    },
  };
}

t.test('replies wait for room, in order, and what is unsent stays below the bound', (t) => {
  const { connection, sent, unsent, drain } = open();
  const texts = Array.from({ length: 10 }, (_, i) => String(i).repeat(40));
  for (const text of texts) {
    connection.reply(() => text);
    t.ok(unsent() <= 100);
  }
  t.same(sent, texts.slice(0, 2));
  t.notOk(connection.hasRoom);
  for (let drained = 4; drained <= 10; drained += 2) {
    drain();
    t.ok(unsent() <= 100);
    t.same(sent, texts.slice(0, drained));
  }
  t.ok(connection.hasRoom);
  t.end();
});

t.test(
  'a reply longer than the room is sent alone, letters count by their bytes, and one that is void is skipped',
  (t) => {
    const { connection, sent, drain } = open();
    const done: string[] = [];
    connection.reply(() => 'a');
    connection.reply(
      () => '€'.repeat(40),
      () => done.push('long'),
    );
    connection.reply(
      () => undefined,
      () => done.push('void'),
    );
    connection.reply(
      () => 'b',
      () => done.push('b'),
    );
    t.same(sent, ['a']);
    t.same(done, []);
    drain();
    t.same(sent, ['a', '€'.repeat(40)]);
    drain();
    t.same(sent.at(-1), 'b');
    t.same(done, ['long', 'b']);
    t.end();
  },
);

t.test('a change is dropped when half of the bound is unsent; a short frame is always sent', (t) => {
  const { connection, sent, drops } = open();
  t.ok(connection.push('x'.repeat(101)));
  t.notOk(connection.push('y'));
  t.equal(drops(), 1);
  connection.send('pong');
  t.equal(sent.at(-1), 'pong');
  t.end();
});

t.test('nothing is sent before the socket is open and after it is closed', (t) => {
  const fresh = new SocketConnection(CALLER);
  t.notOk(fresh.push('x') || fresh.hasRoom);
  const { connection, sent } = open();
  connection.close();
  connection.send('x');
  connection.reply(() => 'x');
  t.notOk(connection.push('x') || connection.hasRoom);
  t.same(sent, []);
  t.end();
});
