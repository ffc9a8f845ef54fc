import type { Socket } from 'node:net';

/** All that is written to the socket in this turn of the event loop leaves in one system call. */
export function corkForTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  setImmediate(() => socket.uncork());
}
