import type { Watermark } from './watermark.ts';
import type { WatermarkLease } from './watermark-lease.ts';

/** Is notified of the leases of one state. */
export interface LeaseObserver {
  onGranted(lease: WatermarkLease): void;
  /** A lease has ended. The one on the state that replaces it may follow in the same call. */
  onEnded(lease: WatermarkLease): void;
}

/** Is notified of all that a live set keeps, such as other gateways, which copy it. */
export interface LiveObserver<T> {
  onGranted(state: T, lease: WatermarkLease): void;
  /** A lease has ended. The one on the state that replaces it may follow in the same call. */
  onEnded(state: T, lease: WatermarkLease): void;
  /** A state at processed, which has no lease, was replaced or rolled back. */
  onProcessed(state: T, isRolledBack: boolean): void;
  onLeft(state: T): void;
  /** A watermark has advanced, behind all that it covers, or is lost. */
  onWatermark(watermark: Watermark): void;
}
