import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../domain/clock.ts';

/** The time in which a new connection keeps its place, in milliseconds: its request is on its way. */
const GRACE_MS = 200;

/**
 * Refuses none: beyond `maxConnections` the longest waiting one makes room, else the oldest. Returns what is called when one
 * becomes a WebSocket: that no longer counts.
 */
export function makeRoom(
  server: Server,
  maxConnections: number,
  clock: Pick<Clock, 'monotonic' | 'after'>,
): (upgraded: Duplex) => void {
  /** The time at which each connection began to wait for a request, or got its last one; the oldest come first. */
  const waiting = new Map<Duplex, number>();
  const answering = new Map<Duplex, number>();
  let isLooking = false;

  const leave = (socket: Duplex): boolean => waiting.delete(socket) || answering.delete(socket);
  const excess = (): number => waiting.size + answering.size - maxConnections;

  const lookLater = (): void => {
    if (isLooking || excess() <= 0) return;
    isLooking = true;
    clock.after(GRACE_MS, look);
  };
  const look = (): void => {
    const latestMs = clock.monotonic() - GRACE_MS;
    for (const connections of [waiting, answering]) {
      for (const [socket, sinceMs] of connections) {
        if (excess() <= 0 || sinceMs > latestMs) break;
        leave(socket);
        socket.destroy();
      }
    }
    isLooking = false;
    lookLater();
  };

  server.on('connection', (socket) => {
    waiting.set(socket, clock.monotonic());
    socket.on('close', () => leave(socket));
    lookLater();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    leave(socket);
    answering.set(socket, clock.monotonic());
    response.on('close', () => {
      if (answering.delete(socket)) waiting.set(socket, clock.monotonic());
    });
  });
  return leave;
}
