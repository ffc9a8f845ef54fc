import { setTimeout as sleep } from 'node:timers/promises';
import { OP } from '../../../support/websocket-frame.ts';
import { WebSocketPeer } from '../../../support/websocket-peer.ts';
import { countFor, expectAll, type WireRow } from '../wire-row.ts';

/** Stream frames compared with the body of `GET /network` of the same version. */
export const streamFrameBytes: WireRow = {
  id: '42',
  title: 'a stream frame is the body of GET /network',
  async run({ url, get }, runLength) {
    const wanted = countFor(runLength, 5, 25, 250);
    const peer = await WebSocketPeer.open(url);
    const bodies = new Map<string, string>();
    while (bodies.size < wanted) {
      const { text } = await get('/network');
      bodies.set(versionOf(text), text);
      await sleep(20);
    }
    const frames = peer.frames.filter(({ opcode }) => opcode === OP.text).map(({ payload }) => payload.toString());
    peer.connection.reset();
    const pairs = frames.filter((frame) => bodies.has(versionOf(frame)));
    return [
      expectAll('the same bytes', pairs.filter((frame) => bodies.get(versionOf(frame)) === frame).length, pairs.length),
    ];
  },
};

const versionOf = (body: string): string => {
  const { seq, stream } = JSON.parse(body).result;
  return `${stream} ${seq}`;
};
