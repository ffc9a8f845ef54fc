import type { UpstreamSettings } from '../../src/gateway/upstream/upstream-options.ts';

/** Settings with short waits. A test overrides what it is about. */
export const UPSTREAM_SETTINGS: UpstreamSettings = {
  timeoutMs: 2000,
  slowTimeoutMs: 10_000,
  connections: 4,
  queue: 4,
  maxBytes: 1_000_000,
  idleTimeoutMs: 2000,
  pingMs: 5000,
  ackTimeoutMs: 5000,
  backoffMinMs: 250,
  backoffMaxMs: 1000,
  startTimeoutMs: 3000,
  subscriptions: 100,
  inFlightBytes: 10_000_000,
  maxSlotJump: 64,
  recoverySlots: 8,
};
