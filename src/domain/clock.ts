/** The time, passed in wherever something depends on it. */
export interface Clock {
  /** Unix time in milliseconds, as people read it. It may jump; never measure a duration with it. */
  now(): number;
  /** Milliseconds since some fixed moment. It never jumps and never goes back. */
  monotonic(): number;
  /** Calls `work` once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, work: () => void): () => void;
}
