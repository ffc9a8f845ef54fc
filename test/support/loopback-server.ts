import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Lets a server listen on a free port of loopback; returns the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // a string only for pipes
}

export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}
