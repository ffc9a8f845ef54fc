/** The time source, injected wherever code depends on time. */
export interface Clock {
  /** Returns the Unix time in milliseconds. It may jump; never measure a duration with it. */
  now(): number;
  /** Returns the milliseconds since some fixed time. They never jump and never go back. */
  monotonic(): number;
  /** Calls `work` once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, work: () => void): () => void;
}
