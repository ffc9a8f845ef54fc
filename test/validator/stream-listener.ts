import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerInFrame } from '../../src/receipts/push-frame.ts';

interface Frame {
  readonly result: { readonly seq: number; readonly slot: number };
  readonly slot: number;
}

/** One reader of the stream. */
export interface StreamListener {
  /** The network's frames, in order. */
  readonly frames: readonly Frame[];
  /** What was refused, or came where nothing should. */
  readonly unexpected: readonly string[];
  /** Has a topic pushed, named as the route that answers the same. Waits a little: ten messages a second are heard. */
  subscribe(topic: 'balance' | 'account', address: string, commitment: string): Promise<void>;
  close(): void;
}

/** Opens the stream. Hands on the answer of each push, as REST gives it, with the path that it answers. */
export async function openStreamListener(
  url: string,
  onPush: (path: string, answer: string) => void,
): Promise<StreamListener> {
  const frames: Frame[] = [];
  const unexpected: string[] = [];
  /** What is followed, by the number that it was asked for with. */
  const topics: { readonly path: string; seq: number }[] = [];
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
  socket.onmessage = ({ data }) => {
    const frame = String(data);
    const { type, id, seq, result, slot } = JSON.parse(frame);
    if (type === undefined) {
      frames.push({ result, slot });
      return;
    }
    const topic = topics[id];
    if (topic === undefined || seq !== topic.seq++) unexpected.push(frame);
    else onPush(topic.path, answerInFrame(frame));
  };
  let isClosing = false;
  socket.onclose = ({ reason }) => {
    if (!isClosing) unexpected.push(`closed: ${reason}`);
  };
  await once(socket, 'open');
  return {
    frames,
    unexpected,
    subscribe: async (topic, address, commitment) => {
      const id = topics.push({ path: `/${topic}/${address}?commitment=${commitment}`, seq: 0 }) - 1;
      socket.send(JSON.stringify({ op: 'subscribe', topic, address, commitment, id }));
      await sleep(150);
    },
    close: () => {
      isClosing = true;
      socket.close();
    },
  };
}
