import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';
import type { StreamReadersOptions } from './stream-readers.ts';

// Thread of stream readers and of one slot subscription to the node itself. It answers each message with the delays in
// milliseconds, relative to the node, at which each reader received each slot since the last message.

const { url, nodeUrl, count }: StreamReadersOptions = workerData;
const numberIn = (data: unknown, name: RegExp): number => Number(name.exec(String(data))?.[1]);

/** Time at which the node notified a slot. */
const notifiedMs = new Map<number, number>();
/** Arrival times of frames that came before the node's own notification of their slot. */
const earlyFrames = new Map<number, number[]>();
let latenessMs: number[] = [];
/** Time from which notifications count for the next answer. */
let sinceMs = 0;

const node = new WebSocket(nodeUrl);
await once(node, 'open');
node.on('message', (data) => {
  const [slot, nowMs] = [numberIn(data, /"parent":(\d+)/), performance.now()]; // the child slot has begun, so this one is processed
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
    if (slot <= latest) return; // other changes are sent with the same slot
    latest = slot;
    const notifiedAtMs = notifiedMs.get(slot);
    if (notifiedAtMs !== undefined && notifiedAtMs >= sinceMs) latenessMs.push(nowMs - notifiedAtMs);
    if (notifiedAtMs === undefined) earlyFrames.set(slot, [...(earlyFrames.get(slot) ?? []), nowMs]);
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
