import type { Clock } from './clock.ts';
import type { Slot } from './slot.ts';

/** Assumed until one is measured, in milliseconds: the longest aim. https://solana.com/docs/terminology#slot */
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

interface Span {
  readonly slots: number;
  readonly ms: number;
}

/** The average of those seconds that are near the median, so that neither an outage nor one false slot changes it. */
export class SlotTime {
  readonly #clock: Clock;
  readonly #spans: Span[] = [];
  #start: { readonly slot: Slot; readonly atMs: number } | undefined;
  #measuredMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ms(): number {
    return this.#measuredMs ?? TARGET_SLOT_MS;
  }

  get measuredMs(): number | undefined {
    return this.#measuredMs;
  }

  /** Whether enough was measured that one false slot doesn't change it. */
  get isSettled(): boolean {
    return this.#spans.length >= SETTLED_SPANS;
  }

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
