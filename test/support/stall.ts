import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { frame, OP } from './frame.ts';
import type { Peer } from './peer.ts';
import { fenceOf } from './raw.ts';

/** What the system keeps for a connection that is not read, on both of its sides. */
export const KEPT_BYTES = bufferOf('tcp_wmem', 2) + bufferOf('tcp_rmem', 1);

/** More than that and what the gateway keeps. */
const FLOOD_BYTES = 1.2 * KEPT_BYTES + 256 * 1024;
const PING = frame(OP.ping, Buffer.alloc(125, 1));
const PINGS = Buffer.concat(Array.from({ length: 500 }, () => PING));

/** Has peers read nothing more, and asks for so many pongs that whatever else is said to them has to wait. */
export async function stall(url: string, peers: readonly Peer[]): Promise<void> {
  for (const { line } of peers) line.socket.pause();
  for (let sent = 0; sent < FLOOD_BYTES; sent += PINGS.length) {
    for (const { line } of peers) line.write(PINGS);
    while (peers.some(({ line }) => line.socket.writableLength > PINGS.length)) await sleep(1);
  }
  while (peers.some(({ line }) => line.socket.writableLength > 0)) await sleep(1);
  await fenceOf(url).pass();
}

/** Shows whether the other side is still there; a connection that is not read doesn't tell. */
export const nudge = ({ line }: Peer): void => line.write(PING);

/** One of the three sizes that Linux has for a connection's buffers: the least, the usual, the most. */
function bufferOf(name: 'tcp_wmem' | 'tcp_rmem', size: 1 | 2): number {
  const file = `/proc/sys/net/ipv4/${name}`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(/\s+/)[size]) : 4 * 1024 * 1024;
}
