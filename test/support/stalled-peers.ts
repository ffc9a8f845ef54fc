import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { barrierOf } from './raw-http.ts';
import { frame, OP } from './websocket-frame.ts';
import type { WebSocketPeer } from './websocket-peer.ts';

/** What the system keeps for a connection that is not read, on both of its sides. */
export const KERNEL_BUFFER_BYTES = kernelBufferBytes('tcp_wmem', 2) + kernelBufferBytes('tcp_rmem', 1);

/** More than that and what the gateway keeps. */
const FLOOD_BYTES = 1.2 * KERNEL_BUFFER_BYTES + 256 * 1024;
const PING = frame(OP.ping, Buffer.alloc(125, 1));
const PINGS = Buffer.concat(Array.from({ length: 500 }, () => PING));

/** Has peers read nothing more, and asks for so many pongs that whatever else is said to them has to wait. */
export async function stallPeers(url: string, peers: readonly WebSocketPeer[]): Promise<void> {
  for (const { connection } of peers) connection.socket.pause();
  for (let sent = 0; sent < FLOOD_BYTES; sent += PINGS.length) {
    for (const { connection } of peers) connection.write(PINGS);
    while (peers.some(({ connection }) => connection.socket.writableLength > PINGS.length)) await sleep(1);
  }
  while (peers.some(({ connection }) => connection.socket.writableLength > 0)) await sleep(1);
  await barrierOf(url).wait();
}

/** Shows whether the other side is still there; a connection that is not read doesn't tell. */
export const pingPeer = ({ connection }: WebSocketPeer): void => connection.write(PING);

/** One of the three sizes that Linux has for a connection's buffers: the least, the usual, the most. */
function kernelBufferBytes(name: 'tcp_wmem' | 'tcp_rmem', size: 1 | 2): number {
  const file = `/proc/sys/net/ipv4/${name}`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(/\s+/)[size]) : 4 * 1024 * 1024;
}
