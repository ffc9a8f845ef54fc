import t from 'tap';
import { openStepped, until } from '../support/open.ts';
import { Peer } from '../support/peer.ts';
import { stall } from '../support/stall.ts';

t.test('a reader who has taken nothing for three seconds is told 1013, and the others go on', async (t) => {
  const { gateway, step } = await openStepped(t, { perSlot: 0 });
  const slow = await Peer.open(gateway.url);
  const good = await Peer.open(gateway.url);
  t.teardown(() => [slow, good].map(({ line }) => line.cut()));
  await stall(gateway.url, [slow]);
  const before = good.frames.length;
  await step(9); // 3.6 seconds
  slow.line.socket.resume();
  await until(() => slow.line.closed, 'the end');
  t.equal(slow.code, 1013);
  t.equal(good.frames.length, before + 9);
  t.equal(good.code, undefined);
});
