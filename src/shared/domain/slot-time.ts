import type { Clock } from './clock.ts';
import type { Slot } from './slot.ts';

/**
 * The slot time assumed until one is measured, in milliseconds: the longest that Solana has aimed at.
 * https://solana.com/docs/terminology#slot
 */
export const TARGET_SLOT_MS = 400;

/** The shortest time that a measurement spans, so that slots which arrive together don't distort it. */
const MIN_SPAN_MS = 1000;

/** The number of measurements that count: those of a minute or a little more. */
const MAX_SPANS = 60;

/** The fewest measurements of which one false slot can't change the median. */
const SETTLED_SPANS = 5;

/** How many times longer or shorter than most a measurement may be: an outage, a burst or a false slot exceeds it. */
const OUTLIER_FACTOR = 2;

/** The bounds of what is believed, in milliseconds: any cluster is between them. */
const MIN_SLOT_MS = 5;
const MAX_SLOT_MS = 60_000;

/** The time that some successive slots took. Skipped ones are among them. */
interface Span {
  readonly slots: number;
  readonly ms: number;
}

/**
 * Measures the slot time of the cluster over the last minute, from slots that were accepted. It is the average of those
 * seconds that are near the median, so that neither an outage nor one false slot changes it.
 */
export class SlotTime {
  readonly #clock: Clock;
  readonly #spans: Span[] = [];
  #start: { readonly slot: Slot; readonly atMs: number } | undefined;
  #measuredMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The slot time in milliseconds, as measured; {@link TARGET_SLOT_MS} during the first second. */
  get ms(): number {
    return this.#measuredMs ?? TARGET_SLOT_MS;
  }

  /** The measured slot time in milliseconds; undefined during the first second. */
  get measuredMs(): number | undefined {
    return this.#measuredMs;
  }

  /** Whether enough was measured that one false slot doesn't change it. */
  get isSettled(): boolean {
    return this.#spans.length >= SETTLED_SPANS;
  }

  /** Observes a slot that has begun now. */
  observe(slot: Slot): void {
    const atMs = this.#clock.monotonic();
    const start = this.#start;
    if (start !== undefined && (slot <= start.slot || atMs - start.atMs < MIN_SPAN_MS)) return;
    this.#start = { slot, atMs };
    if (start === undefined) return;
    this.#spans.push({ slots: slot - start.slot, ms: atMs - start.atMs });
    if (this.#spans.length > MAX_SPANS) this.#spans.shift();
    this.#measuredMs = Math.min(Math.max(slotMsOf(this.#spans), MIN_SLOT_MS), MAX_SLOT_MS);
  }
}

/** Returns the average slot time of the spans that are near the median one. */
function slotMsOf(spans: readonly Span[]): number {
  const times = spans.map(({ slots, ms }) => ms / slots).sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? TARGET_SLOT_MS;
  const isNear = (ms: number): boolean => ms <= median * OUTLIER_FACTOR && ms >= median / OUTLIER_FACTOR;
  let [slots, ms] = [0, 0];
  for (const span of spans) {
    if (!isNear(span.ms / span.slots)) continue;
    slots += span.slots;
    ms += span.ms;
  }
  return ms / slots;
}
