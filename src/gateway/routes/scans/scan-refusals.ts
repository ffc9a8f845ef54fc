import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../../shared/runtime/expires-after.ts';

/** Life of a refusal: a mint doesn't lose most of its holders in minutes, nor does a node gain an index. */
export const REFUSAL_SEC = 300;

/** Maximum refusals that are remembered: a few MB. */
const MAX_REFUSALS = 10_000;

/** The refusals of scans, by what was scanned for: to find one out again is as dear as a scan. */
export type ScanRefusals = LRUCache<string, GatewayError>;

export const createScanRefusals = (clock: Pick<Clock, 'monotonic'>): ScanRefusals =>
  new LRUCache({ ...atMost(MAX_REFUSALS), ...expiresAfter(REFUSAL_SEC * 1000, clock) });
