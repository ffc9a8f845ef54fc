import { styleText } from 'node:util';
import type { Snapshot } from '../../client/index.ts';
import { afterEvent, describeView, isCurrent, isOld, type LineEvent, newLine, viewOf } from '../../pages/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { terminalText } from './terminal-text.ts';

/** Values change at most so often, as nobody reads faster. */
const MIN_INTERVAL_MS = 400;

/** Close code of a connection that broke (RFC 6455 7.1.5). */
const BROKEN = 1006;
/** Of xterm: the alternate screen, without line breaks of the terminal's own, so that a narrow one cuts lines. */
const ENTER = '\u001b[?1049h\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?1049l';
const CLEAR_LINE = '\u001b[K';
const HOME = '\u001b[H';
const CLEAR_BELOW = '\u001b[J';

export interface WatchScreenOptions {
  readonly url: string;
  readonly address: string | undefined;
  readonly end: () => void;
  readonly clock: Clock;
  readonly write: (text: string) => void;
}

/** A live network on the alternate screen of a terminal, of any width. `q` ends it. */
export class WatchScreen {
  readonly #options: WatchScreenOptions;
  #line = newLine(0);
  #frames = 0;
  #frame: Partial<Snapshot> = {};
  #sol = '';
  #balanceSlot = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #cancelTick = (): void => {};

  constructor(options: WatchScreenOptions) {
    this.#options = options;
    options.write(ENTER);
    if (process.stdin.isTTY) process.stdin.setRawMode(true).on('data', this.#onKey).resume();
    this.#draw();
  }

  frame(_body: string, snapshot: Pick<Snapshot, 'slot' | 'health'> & Partial<Snapshot>): void {
    this.#frames++;
    this.#frame = snapshot;
    this.#apply({ type: 'frame', slot: snapshot.slot, health: snapshot.health, isPolled: false });
    if (this.#options.clock.monotonic() - this.#drawnMs >= MIN_INTERVAL_MS) this.#draw();
  }

  balance(_body: string, sol: string, slot: number): void {
    [this.#sol, this.#balanceSlot] = [sol, slot];
    this.#draw();
  }

  /** Draws that the connection was lost, and will be opened again. */
  lost(): void {
    this.#apply({ type: 'closed', code: BROKEN });
    this.#draw();
  }

  close(): void {
    this.#cancelTick();
    this.#options.write(LEAVE);
    if (process.stdin.isTTY) process.stdin.setRawMode(false).off('data', this.#onKey).pause();
  }

  readonly #onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u0004'].includes(key.toString())) this.#options.end();
  };

  #apply(event: LineEvent): void {
    this.#line = afterEvent(this.#line, event, this.#options.clock.monotonic());
  }

  /** Draws the screen, and again when the age of the slot is another one. */
  #draw(): void {
    const { clock, write } = this.#options;
    this.#drawnMs = clock.monotonic();
    this.#cancelTick();
    const { changesInMs } = viewOf(this.#line, this.#drawnMs);
    if (changesInMs !== undefined) this.#cancelTick = clock.after(changesInMs, () => this.#draw());
    const lines = this.#lines();
    write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}\r\n`).join('')}${CLEAR_BELOW}`);
  }

  #lines(): readonly string[] {
    const { slot, slotTimeMs, epoch, epochProgress } = this.#frame;
    const view = viewOf(this.#line, this.#drawnMs);
    const { tps, nonVoteTps, priorityFee } = isOld(view) ? {} : this.#frame;
    const isLive = view.state === 'live';
    const color = isLive ? 'green' : isCurrent(view) || view.state === 'slow' ? 'yellow' : 'red';
    const rows: readonly (readonly [string, string])[] = [
      ['Slot', number(slot)],
      ['TPS', `${number(nonVoteTps)} without votes, ${number(tps)} in all`],
      ['Slot time', slotTimeMs == null ? '–' : `${Math.round(slotTimeMs)} ms`],
      ['Priority fee', priorityFee == null ? '–' : `${number(priorityFee)} µLam/CU`],
      ['Epoch', epoch === undefined ? '–' : `${number(epoch)} · ${((epochProgress ?? 0) * 100).toFixed(1)}% complete`],
      ...(this.#options.address === undefined
        ? []
        : [['Balance', this.#sol === '' ? '–' : `${this.#sol} SOL at slot ${number(this.#balanceSlot)}`] as const]),
    ];
    return [
      `${styleText(color, isLive ? '●' : '○')} ${styleText('bold', describeView(view))}  ${terminalText(this.#options.url)}  ${this.#frames} ${this.#frames === 1 ? 'frame' : 'frames'} verified`,
      ...rows.map(([label, value]) => `${styleText('dim', label.padEnd(13))}${terminalText(value)}`),
      styleText('dim', 'q ends'),
    ];
  }
}

const number = (value: number | bigint | null | undefined): string =>
  value == null
    ? '–'
    : typeof value === 'number'
      ? Math.round(value).toLocaleString('en-US')
      : value.toLocaleString('en-US');
