import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerInFrame } from '../../src/client/verify/push-frame.ts';

interface Frame {
  readonly result: { readonly seq: number; readonly slot: number };
  readonly slot: number;
}

export interface StreamListener {
  readonly frames: readonly Frame[];
  /** Subscriptions that the node did not answer in time, and that were made again. */
  readonly late: readonly string[];
  /** Refusals and frames that should not arrive. */
  readonly unexpected: readonly string[];
  /** Subscribes to a topic, named like its route, and waits a little because of the limit of ten messages a second. */
  subscribe(topic: 'balance' | 'account', address: string, commitment: string): Promise<void>;
  close(): void;
}

/** Opens the stream. Calls `onPush` with the answer of each push, as REST returns it, and its path. */
export async function openStreamListener(
  url: string,
  onPush: (path: string, answer: string) => void,
): Promise<StreamListener> {
  const frames: Frame[] = [];
  const unexpected: string[] = [];
  const late: string[] = [];
  const topics: { readonly path: string; readonly request: string; seq: number }[] = [];
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`);
  socket.onmessage = ({ data }) => {
    const frame = String(data);
    const { type, id, seq, result, slot, error } = JSON.parse(frame);
    if (type === undefined) {
      frames.push({ result, slot });
      return;
    }
    const topic = topics[id];
    if (topic !== undefined && error === 'upstream_timeout') {
      late.push(topic.path);
      socket.send(topic.request);
    } else if (topic === undefined || seq !== topic.seq++) unexpected.push(frame);
    else onPush(topic.path, answerInFrame(frame));
  };
  let isClosing = false;
  socket.onclose = ({ reason }) => {
    if (!isClosing) unexpected.push(`closed: ${reason}`);
  };
  await once(socket, 'open');
  return {
    frames,
    late,
    unexpected,
    subscribe: async (topic, address, commitment) => {
      const request = JSON.stringify({ op: 'subscribe', topic, address, commitment, id: topics.length });
      topics.push({ path: `/${topic}/${address}?commitment=${commitment}`, request, seq: 0 });
      socket.send(request);
      await sleep(150);
    },
    close: () => {
      isClosing = true;
      socket.close();
    },
  };
}
