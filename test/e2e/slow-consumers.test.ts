import t from 'tap';
import { startStepped, waitFor } from '../support/harness.ts';
import { stallPeers } from '../support/stalled-peers.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

t.test('a reader that has received nothing for three seconds is closed with 1013, and the others go on', async (t) => {
  const { gateway, step } = await startStepped(t, { perSlot: 0 });
  const slow = await WebSocketPeer.open(gateway.url);
  const good = await WebSocketPeer.open(gateway.url);
  t.teardown(() => [slow, good].map(({ connection }) => connection.reset()));
  await stallPeers(gateway.url, [slow]);
  const before = good.frames.length;
  await step(9); // 3.6 seconds
  slow.connection.socket.resume();
  await waitFor(() => slow.connection.closed, 'the end');
  t.equal(slow.closeCode, 1013);
  t.equal(good.frames.length, before + 9);
  t.equal(good.closeCode, undefined);
});
