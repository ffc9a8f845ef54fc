import type { WebSocket } from 'ws';

/** Frames after which the rest waits for the next turn of the event loop: Node reads up to 2 MiB in one, a million pongs. */
const FRAMES_PER_TURN = 1024;

/** Has frames of a peer read in turns. `mayRead` says whether the owner of the socket does not keep it paused. */
export function readInTurns(socket: WebSocket, mayRead: () => boolean = () => true): void {
  let frames = 0;
  const onFrame = (): void => {
    if (++frames % FRAMES_PER_TURN !== 0) return;
    socket.pause();
    setImmediate(() => mayRead() && socket.resume());
  };
  for (const event of ['message', 'ping', 'pong']) socket.on(event, onFrame);
}
