import t from 'tap';
import type { FrameMessage, SnapshotPiece } from '../../../../src/fleet/redis/feed-message.ts';
import { FeedReceiver } from '../../../../src/fleet/redis/feed-receiver.ts';
import { FeedSender } from '../../../../src/fleet/redis/feed-sender.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const KIB = 1024;
const FRAMES = 200;

t.test('F13: a long snapshot goes out in bursts, and its follower waits for all of it', async (t) => {
  const clock = new ManualClock();
  const frame = { type: 1, payload: Buffer.alloc(512 * KIB) };
  const inFlight: { readonly to: string; readonly piece: SnapshotPiece }[] = [];
  let joined = 0;
  let asked = 0;
  const sender = new FeedSender({
    clock,
    member: 'leader',
    snapshot: () => Array(FRAMES).fill(frame),
    send: (message: FrameMessage) => receiver.onFrames(message),
    sendPiece: (to, piece) => inFlight.push({ to, piece }),
    atEndOfTurn: (work) => work(),
    messageBytes: 512 * KIB,
  });
  const receiver = new FeedReceiver({
    clock,
    random: () => 0.5,
    member: 'follower',
    askToJoin(joinId) {
      asked++;
      sender.onJoin('follower', joinId);
    },
    listener: {
      joined: (snapshot) => {
        joined = snapshot.length;
      },
      frame: () => {},
      lost: () => {},
    },
  });
  sender.lead(1);
  let largest = 0;
  for (let ms = 0; joined === 0 && ms < 10_000; ms += 25) {
    clock.advance(25);
    largest = Math.max(largest, inFlight.length);
    if (ms === 300) sender.onJoin('another', 'later');
    for (const { to, piece } of inFlight.splice(0)) if (to === 'follower') receiver.onPiece(piece);
  }
  t.equal(joined, FRAMES);
  t.equal(asked, 1, 'it takes longer than the wait for one piece');
  t.ok(largest <= 5, `${largest} pieces of half a mebibyte at once`);
  clock.advance(100);
  t.match(inFlight[0], { to: 'another', piece: { joinId: 'later', index: 0 } }, 'who has asked meanwhile');
  t.equal(sender.snapshots, 2);
  sender.resign();
  receiver.close();
});
