import { existsSync, readFileSync } from 'node:fs';
import { barrierOf } from './raw-http.ts';
import { frame, OP } from './websocket-frame.ts';
import type { WebSocketPeer } from './websocket-peer.ts';

/** Bytes that the kernel buffers for a connection that is not read, on both sides. */
export const KERNEL_BUFFER_BYTES = kernelBufferBytes('tcp_wmem', 2) + kernelBufferBytes('tcp_rmem', 1);

/** More than the kernel and the gateway together keep. */
const FLOOD_BYTES = 1.2 * KERNEL_BUFFER_BYTES + 256 * 1024;
/** What the engines read of a connection in a turn of the event loop. */
const BYTES_OF_A_TURN = 512 * 1024;
/** No more than each engine answers in a turn. */
const PINGS = Buffer.concat(Array.from({ length: 60 }, () => frame(OP.ping, Buffer.alloc(125, 1))));

/** Stops peers from reading and requests pongs until everything else for them has to wait. */
export async function stallPeers(url: string, peers: readonly WebSocketPeer[]): Promise<void> {
  for (const { connection } of peers) connection.socket.pause();
  for (let sent = 0; sent < FLOOD_BYTES; sent += PINGS.length) {
    for (const { connection } of peers) connection.write(PINGS);
    await barrierOf(url).wait();
  }
  // a gateway that ends a connection of which it has not read all resets it, and the reason of the end is lost
  for (let read = 0; read <= FLOOD_BYTES; read += BYTES_OF_A_TURN) await barrierOf(url).wait();
}

/** Reads one of the three buffer sizes of Linux: minimum, default, maximum. */
function kernelBufferBytes(name: 'tcp_wmem' | 'tcp_rmem', size: 1 | 2): number {
  const file = `/proc/sys/net/ipv4/${name}`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim().split(/\s+/)[size]) : 4 * 1024 * 1024;
}
