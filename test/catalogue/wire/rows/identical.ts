import { setTimeout as sleep } from 'node:timers/promises';
import { OP } from '../../../support/frame.ts';
import { Peer } from '../../../support/peer.ts';
import { all, type Row, times } from '../row.ts';

/** Frames of the stream beside what `GET /network` says at the same version. */
export const identical: Row = {
  id: '42',
  what: 'a frame of the stream is the body of GET /network',
  async run({ url, get }, pace) {
    const wanted = times(pace, 5, 25, 250);
    const peer = await Peer.open(url);
    const bodies = new Map<string, string>();
    while (bodies.size < wanted) {
      const { text } = await get('/network');
      bodies.set(versionOf(text), text);
      await sleep(20);
    }
    const frames = peer.frames.filter(({ opcode }) => opcode === OP.text).map(({ payload }) => payload.toString());
    peer.line.cut();
    const pairs = frames.filter((frame) => bodies.has(versionOf(frame)));
    return [
      all('the same bytes', pairs.filter((frame) => bodies.get(versionOf(frame)) === frame).length, pairs.length),
    ];
  },
};

const versionOf = (body: string): string => {
  const { seq, stream } = JSON.parse(body).result;
  return `${stream} ${seq}`;
};
