/** One direction of one connection, as a fault sees it. */
export interface FaultTarget {
  pass(chunk: Buffer): void;
  /** Ends the connection politely. */
  end(): void;
  /** Ends it with a reset. */
  resetConnection(): void;
}

/** What a fault does on one connection until it is lifted. */
export interface FaultHandler {
  onData(chunk: Buffer): void;
  /** The fault is over; bytes that are not lost are passed on. */
  onHealed?(): void;
}

/** Something that happens to what a node answers on its way. */
export type ConnectionFault = (way: FaultTarget) => FaultHandler;

export const noFault: ConnectionFault = ({ pass }) => ({ onData: pass });

/** All comes, so many milliseconds late. */
export const latency =
  (ms: number): ConnectionFault =>
  ({ pass }) => ({ onData: (chunk) => void setTimeout(pass, ms, chunk) });

/** Nothing comes until the fault is lifted; then all of it at once. */
export const stalled: ConnectionFault = ({ pass }) => {
  const heldChunks: Buffer[] = [];
  return {
    onData: (chunk) => void heldChunks.push(chunk),
    onHealed: () => heldChunks.forEach(pass),
  };
};

/** The other end is gone and nobody says so: what it says is lost, and no end of the connection is ever seen. */
export const halfOpen: ConnectionFault = ({ resetConnection }) => ({ onData: () => {}, onHealed: resetConnection });

/** After so many bytes the connection ends, in the middle of whatever it was. */
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

/** One byte of so many becomes one that neither HTTP nor JSON knows. */
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

/** The connection is reset as soon as anything is said on it. */
export const reset: ConnectionFault = ({ resetConnection }) => ({ onData: resetConnection });

const SLICE_MS = 20;

/** So many bytes a second, and no more. */
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
