import { once } from 'node:events';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { createGenesis } from '../../../../src/localnet/cluster-genesis.ts';
import { startInThreadCluster } from '../../../../src/localnet/in-thread-cluster.ts';
import { addressOfNumber } from '../../../support/address-of-number.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { rpcPost, rpcRequest } from '../../../support/rpc-request.ts';
import { setupStore } from '../../../support/setup-store.ts';

const SLOT_MS = 400;
const processed = [{ commitment: 'processed' }];

/** Starts a cluster without traffic whose slots pass with the test's clock. */
async function start(t: Test) {
  const clock = new ManualClock();
  const genesis = createGenesis(new Uint8Array(32).fill(7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore);
  t.teardown(() => cluster.close());
  const slots = (count: number): void => clock.advance(count * SLOT_MS);
  const slot = (): Promise<number> => rpcRequest(cluster.url, 'getSlot', processed);
  return { ...cluster, clock, slots, slot };
}

/** Opens a WebSocket that is subscribed to slots. */
async function followSlots(wsUrl: string) {
  const socket = new WebSocket(wsUrl);
  const slots: number[] = [];
  await once(socket, 'open');
  const subscribed = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === 'slotNotification') slots.push(message.params.result.slot);
      else resolve();
    });
  });
  socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
  await subscribed;
  return { socket, slots };
}

/** Waits for a pong: all that was sent through the WebSocket before has arrived by then. */
async function waitForPong(socket: WebSocket): Promise<void> {
  const pong = once(socket, 'pong');
  socket.ping();
  await pong;
}

t.test('slots stop, continue, lag and catch up', async (t) => {
  const { control, slots, slot } = await start(t);
  slots(3);
  const before = await slot();
  await control.pauseSlots();
  slots(10);
  t.equal(await slot(), before);
  await control.resumeSlots();
  slots(2);
  t.equal(await slot(), before + 2);
  await control.lagBehind(5);
  slots(5);
  t.equal(await slot(), before + 2);
  await control.lagBehind(0);
  t.equal(await slot(), before + 7);
});

t.test('a fork abandons slots, which are then skipped', async (t) => {
  const { control, slots, slot, url } = await start(t);
  slots(5);
  const head = await slot();
  const abandoned = await control.fork();
  t.ok(abandoned.includes(head));
  slots(40);
  t.ok((await slot()) > head);
  await t.rejects(rpcRequest(url, 'getBlock', [head]), { code: -32007 });
});

t.test('WebSockets are cut, closed, or silenced', async (t) => {
  const { control, slots, wsUrl } = await start(t);

  const cut = await followSlots(wsUrl);
  const ending = once(cut.socket, 'close');
  await control.dropWebSockets();
  t.equal((await ending)[0], 1006, 'without a close frame');

  const closed = await followSlots(wsUrl);
  const closing = once(closed.socket, 'close');
  await control.closeWebSockets();
  t.equal((await closing)[0], 1000, 'politely');

  const silent = await followSlots(wsUrl);
  await control.silenceWebSockets(true);
  slots(3);
  let pongs = 0;
  silent.socket.on('pong', () => pongs++);
  silent.socket.ping();
  await control.silenceWebSockets(false);
  slots(1);
  await waitForPong(silent.socket);
  t.equal(silent.slots.length, 1, 'missed notifications are not sent later');
  silent.socket.terminate();
});

t.test(
  'a WebSocket may have so many subscriptions; one more is refused, ends it or is acknowledged late',
  async (t) => {
    const { control, clock, wsUrl } = await start(t);
    const { socket } = await followSlots(wsUrl);
    const answers: any[] = [];
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === undefined) answers.push(message);
    });
    const subscribe = async (id: number): Promise<void> => {
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', id, method: 'logsSubscribe', params: [{ mentions: [addressOfNumber(id)] }] }),
      );
      await waitForPong(socket);
    };
    await control.limitSubscriptions(2, 'error');
    await subscribe(2);
    await subscribe(3);
    t.match(answers, [
      { id: 2, error: undefined },
      { id: 3, error: { code: -32603, message: /limit reached/ } },
    ]);
    t.strictSame(await control.subscriptionCounts(), [2]);
    await control.limitSubscriptions(2, 'late');
    await subscribe(4);
    t.equal(answers.length, 2);
    clock.advance(10_000);
    await waitForPong(socket);
    t.match(answers[2], { id: 4, error: undefined });
    await control.limitSubscriptions(2, 'close');
    const closed = once(socket, 'close');
    void subscribe(5).catch(() => {});
    t.equal((await closed)[0], 1006);
    t.strictSame(await control.subscriptionCounts(), []);
  },
);

t.test('a number of requests is refused, then requests are served again', async (t) => {
  const { control, url, slot } = await start(t);
  await control.rateLimit(2, 7);
  const refused = await rpcPost(url, 'getSlot');
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), '7');
  await control.rateLimit(1);
  t.equal((await rpcPost(url, 'getSlot')).headers.get('retry-after'), null);
  t.type(await slot(), 'number');

  await control.failMinContextSlot(1);
  await t.rejects(slot(), { code: -32016 });
  t.type(await slot(), 'number');
});

t.test('answers are delayed, and report a wrong slot', async (t) => {
  const { control, clock, slot } = await start(t);
  const truth = await slot();
  await control.delayResponses(60_000);
  let answered = false;
  const late = slot().then((reported) => {
    answered = true;
    return reported;
  });
  await control.pauseSlots();
  while (!answered) {
    clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(await late, truth);
  await control.delayResponses(0);
  await control.skewSlots(1000);
  t.equal(await slot(), truth + 1000);
  await control.skewSlots(0);
  t.equal(await slot(), truth);
});

t.test('the node refuses connections, then answers at the same address', async (t) => {
  const { control, url, wsUrl, slot } = await start(t);
  const { socket } = await followSlots(wsUrl);
  const cut = once(socket, 'close');
  await control.stopListening();
  await cut;
  await t.rejects(rpcPost(url, 'getSlot'));
  await control.startListening();
  t.type(await slot(), 'number');
});

t.test('calls are counted by method', async (t) => {
  const { control, url } = await start(t);
  await rpcRequest(url, 'getSlot');
  await rpcRequest(url, 'getSlot');
  await rpcRequest(url, 'getVersion');
  await t.rejects(rpcRequest(url, 'noSuchMethod'));
  t.same(await control.requestCounts(), { getSlot: 2, getVersion: 1, unknown: 1 });
});
