import type { LeaseObserver } from './lease-holder.ts';
import type { Watermark } from './watermark.ts';

/** Is notified of all that a live set keeps, such as other gateways, which copy it. */
export interface LiveObserver<T> extends LeaseObserver<T> {
  /** A state at processed, which has no lease, was replaced or rolled back. */
  onProcessed(state: T, isRolledBack: boolean): void;
  onLeft(state: T): void;
  /** A watermark has advanced, behind all that it covers, or is lost. */
  onWatermark(watermark: Watermark): void;
}
