/** One direction of a connection that a fault acts on. */
export interface FaultTarget {
  pass(chunk: Buffer): void;
  /** Ends the connection in order (FIN). */
  end(): void;
  /** Ends the connection with a reset (RST). */
  resetConnection(): void;
}

/** Effect of a fault on one connection until it is healed. */
export interface FaultHandler {
  onData(chunk: Buffer): void;
  /** Called when the fault is over; bytes that are not lost are passed on. */
  onHealed?(): void;
}

/** A fault on the way from a node to the gateway. */
export type ConnectionFault = (way: FaultTarget) => FaultHandler;

export const noFault: ConnectionFault = ({ pass }) => ({ onData: pass });

export const latency =
  (ms: number): ConnectionFault =>
  ({ pass }) => ({ onData: (chunk) => void setTimeout(pass, ms, chunk) });

/** Holds all bytes back until the fault is healed, then passes them on together. */
export const stalled: ConnectionFault = ({ pass }) => {
  const heldChunks: Buffer[] = [];
  return {
    onData: (chunk) => void heldChunks.push(chunk),
    onHealed: () => heldChunks.forEach(pass),
  };
};

/** Loses all bytes and hides the end of the connection. */
export const halfOpen: ConnectionFault = ({ resetConnection }) => ({ onData: () => {}, onHealed: resetConnection });

/** Ends the connection after some bytes. */
export const truncated =
  (bytes: number): ConnectionFault =>
  ({ pass, end }) => {
    let left = bytes;
    return {
      onData(chunk) {
        pass(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) end();
      },
    };
  };

/** Replaces every n-th byte by NUL, which neither HTTP nor JSON allows. */
export const garbled =
  (every: number): ConnectionFault =>
  ({ pass }) => {
    let passed = 0;
    return {
      onData(chunk) {
        const copy = Buffer.from(chunk);
        for (let at = every - 1 - (passed % every); at < copy.length; at += every) copy[at] = 0;
        passed += chunk.length;
        pass(copy);
      },
    };
  };

/** Resets the connection at the first byte. */
export const reset: ConnectionFault = ({ resetConnection }) => ({ onData: resetConnection });

const SLICE_MS = 20;

/** Limits the rate in bytes per second. */
export const throttled =
  (bytesPerSecond: number): ConnectionFault =>
  ({ pass }) => {
    let queue = Buffer.alloc(0);
    const slice = Math.max(1, Math.round((bytesPerSecond * SLICE_MS) / 1000));
    const timer = setInterval(() => {
      if (queue.length > 0) pass(queue.subarray(0, slice));
      queue = queue.subarray(slice);
    }, SLICE_MS);
    timer.unref();
    return {
      onData(chunk) {
        queue = Buffer.concat([queue, chunk]);
      },
      onHealed() {
        clearInterval(timer);
        pass(queue);
      },
    };
  };
