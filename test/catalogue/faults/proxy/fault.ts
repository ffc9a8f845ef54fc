/** One direction of one connection, as a fault sees it. */
export interface Way {
  pass(chunk: Buffer): void;
  /** Ends the connection politely. */
  end(): void;
  /** Ends it with a reset. */
  cut(): void;
}

/** What a fault does on one connection until it is lifted. */
export interface Handling {
  take(chunk: Buffer): void;
  /** The fault is over; bytes that are not lost are passed on. */
  lift?(): void;
}

/** Something that happens to what a node answers on its way. */
export type Fault = (way: Way) => Handling;

export const clear: Fault = ({ pass }) => ({ take: pass });

/** All comes, so many milliseconds late. */
export const latency =
  (ms: number): Fault =>
  ({ pass }) => ({ take: (chunk) => void setTimeout(pass, ms, chunk) });

/** Nothing comes until the fault is lifted; then all of it at once. */
export const stalled: Fault = ({ pass }) => {
  const held: Buffer[] = [];
  return {
    take: (chunk) => void held.push(chunk),
    lift: () => held.forEach(pass),
  };
};

/** The other end is gone and nobody says so: what it says is lost, and no end of the connection is ever seen. */
export const halfOpen: Fault = ({ cut }) => ({ take: () => {}, lift: cut });

/** After so many bytes the connection ends, in the middle of whatever it was. */
export const truncated =
  (bytes: number): Fault =>
  ({ pass, end }) => {
    let left = bytes;
    return {
      take(chunk) {
        pass(chunk.subarray(0, left));
        left -= chunk.length;
        if (left <= 0) end();
      },
    };
  };

/** One byte of so many becomes one that neither HTTP nor JSON knows. */
export const garbled =
  (every: number): Fault =>
  ({ pass }) => {
    let passed = 0;
    return {
      take(chunk) {
        const copy = Buffer.from(chunk);
        for (let at = every - 1 - (passed % every); at < copy.length; at += every) copy[at] = 0;
        passed += chunk.length;
        pass(copy);
      },
    };
  };

/** The connection is reset as soon as anything is said on it. */
export const reset: Fault = ({ cut }) => ({ take: cut });

const SLICE_MS = 20;

/** So many bytes a second, and no more. */
export const throttled =
  (bytesPerSecond: number): Fault =>
  ({ pass }) => {
    let queue = Buffer.alloc(0);
    const slice = Math.max(1, Math.round((bytesPerSecond * SLICE_MS) / 1000));
    const timer = setInterval(() => {
      if (queue.length > 0) pass(queue.subarray(0, slice));
      queue = queue.subarray(slice);
    }, SLICE_MS);
    timer.unref();
    return {
      take(chunk) {
        queue = Buffer.concat([queue, chunk]);
      },
      lift() {
        clearInterval(timer);
        pass(queue);
      },
    };
  };
