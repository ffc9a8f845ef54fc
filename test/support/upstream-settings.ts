import type { UpstreamSettings } from '../../src/upstream/upstream-options.ts';

/** Settings with short waits. A test overrides what it is about. */
export const UPSTREAM_SETTINGS: UpstreamSettings = {
  timeoutMs: 2000,
  slowTimeoutMs: 10_000,
  connections: 4,
  queue: 4,
  maxBytes: 1_000_000,
  silenceMs: 2000,
  pingMs: 5000,
  ackMs: 5000,
  backoffMinMs: 250,
  backoffMaxMs: 1000,
  startMs: 3000,
  subscriptions: 100,
  inFlightBytes: 10_000_000,
  maxJump: 64,
  steadySlots: 8,
};
