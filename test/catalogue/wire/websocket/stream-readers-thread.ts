import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';
import type { StreamReadersOptions } from './stream-readers.ts';

// The thread of some who read the stream, and of one who hears of slots from the node itself. Each message is answered
// by how many milliseconds behind the node each reader heard of each slot that was told since the last message.

const { url, nodeUrl, count }: StreamReadersOptions = workerData;
const numberIn = (data: unknown, name: RegExp): number => Number(name.exec(String(data))?.[1]);

/** When the node has told of a slot. */
const notifiedMs = new Map<number, number>();
/** When frames came that were here before the node's own word of their slot. */
const earlyFrames = new Map<number, number[]>();
let latenessMs: number[] = [];
/** What the node told before that is no matter of this answer. */
let sinceMs = 0;

const node = new WebSocket(nodeUrl);
await once(node, 'open');
node.on('message', (data) => {
  const [slot, nowMs] = [numberIn(data, /"parent":(\d+)/), performance.now()]; // the one behind it has begun, this one is done
  notifiedMs.set(slot, nowMs);
  for (const atMs of earlyFrames.get(slot) ?? []) latenessMs.push(atMs - nowMs);
  earlyFrames.delete(slot);
});
node.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');

let open = 0;
for (let i = 0; i < count; i++) {
  const reader = new WebSocket(url);
  let latest = 0;
  reader.on('message', (data) => {
    const [slot, nowMs] = [numberIn(data, /"slot":(\d+)/), performance.now()];
    if (slot <= latest) return; // what else the network does is told of the same slot
    latest = slot;
    const told = notifiedMs.get(slot);
    if (told !== undefined && told >= sinceMs) latenessMs.push(nowMs - told);
    if (told === undefined) earlyFrames.set(slot, [...(earlyFrames.get(slot) ?? []), nowMs]);
  });
  reader.on('close', () => open--);
  await once(reader, 'open');
  open++;
}

parentPort?.on('message', () => {
  parentPort?.postMessage({ open, latenessMs });
  latenessMs = [];
  sinceMs = performance.now();
});
parentPort?.postMessage('ready');
