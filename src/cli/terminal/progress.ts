import type { Clock } from '../../shared/domain/clock.ts';

export interface ProgressOptions {
  /** The stream that progress is drawn on: the standard error. */
  readonly output: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): void };
  readonly clock: Clock;
  readonly what: string;
  /** How much there is to do; undefined if nobody knows. */
  readonly total?: number | undefined;
}

/** People can read about ten a second. */
const MIN_INTERVAL_MS = 100;

/** The progress of long work in one line, drawn again in its place. On anything but a terminal it draws nothing. */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #startedMs: number;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #done = 0;
  #note = '';

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonic();
  }

  /** Notes that `count` more are done. `note` says what is being done now. */
  advance(count = 1, note = ''): void {
    const { output, clock } = this.#options;
    this.#done += count;
    this.#note = note;
    const nowMs = clock.monotonic();
    if (output.isTTY !== true || nowMs - this.#drawnMs < MIN_INTERVAL_MS) return;
    this.#drawnMs = nowMs;
    // the cursor goes back, so that what others write begins at the left
    output.write(`\u001b[K${this.#line(nowMs).slice(0, (output.columns || 80) - 1)}\r`);
  }

  end(): void {
    if (this.#drawnMs !== Number.NEGATIVE_INFINITY) this.#options.output.write('\u001b[K');
    this.#drawnMs = Number.NEGATIVE_INFINITY;
  }

  /** Formats share, rate and time left; of work without a known end what is done and the time that it took. */
  #line(nowMs: number): string {
    const { what, total } = this.#options;
    const seconds = (nowMs - this.#startedMs) / 1000;
    const rate = seconds > 0 ? this.#done / seconds : 0;
    const facts =
      total === undefined
        ? [this.#done > 0 && `${this.#done}`, this.#done > 0 && `${rate.toFixed(0)}/s`, `${seconds.toFixed(1)} s`]
        : [
            `${total === 0 ? 100 : Math.floor((100 * this.#done) / total)} %`,
            `${rate.toFixed(rate < 10 ? 1 : 0)}/s`,
            rate > 0 && `${Math.ceil((total - this.#done) / rate)} s left`,
          ];
    return [what, ...facts, this.#note].filter((part) => part !== false && part !== '').join('  ');
  }
}
