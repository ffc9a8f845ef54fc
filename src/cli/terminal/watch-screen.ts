import { styleText } from 'node:util';
import { terminalText } from './terminal-text.ts';

/** The members of a frame that are shown. */
interface Frame {
  readonly slot?: number;
  readonly tps?: number | null;
  readonly nonVoteTps?: number | null;
  readonly slotTimeMs?: number | null;
  readonly epoch?: number;
  readonly epochProgress?: number;
  readonly priorityFee?: number | bigint | null;
  readonly health?: string;
}

/** Values change at most so often, as nobody reads faster. */
const MIN_INTERVAL_MS = 400;

const CLEAR_LINE = '\u001b[K';

/** One screen of a live network, drawn again in its place. `q` ends it. */
export class WatchScreen {
  readonly #url: string;
  readonly #address: string | undefined;
  readonly #end: () => void;
  #state = 'connecting';
  #frames = 0;
  #frame: Frame = {};
  #sol = '';
  #balanceSlot = 0;
  #drawnLines = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(url: string, address: string | undefined, end: () => void) {
    this.#url = url;
    this.#address = address;
    this.#end = end;
    if (process.stdin.isTTY) process.stdin.setRawMode(true).on('data', this.#onKey).resume();
    this.#draw();
  }

  frame(_body: string, snapshot: Frame): void {
    this.#frames++;
    this.#frame = snapshot;
    if (performance.now() - this.#drawnMs >= MIN_INTERVAL_MS) this.#draw();
  }

  balance(_body: string, sol: string, slot: number): void {
    [this.#sol, this.#balanceSlot] = [sol, slot];
    this.#draw();
  }

  state(state: string): void {
    this.#state = state;
    this.#draw();
  }

  close(): void {
    if (process.stdin.isTTY) process.stdin.setRawMode(false).off('data', this.#onKey).pause();
  }

  readonly #onKey = (key: Buffer): void => {
    if (['q', 'Q', '\u0003', '\u0004'].includes(key.toString())) this.#end();
  };

  #draw(): void {
    this.#drawnMs = performance.now();
    const lines = this.#lines();
    const up = this.#drawnLines === 0 ? '' : `\u001b[${this.#drawnLines}A`;
    process.stdout.write(up + lines.map((line) => `\r${line}${CLEAR_LINE}\n`).join(''));
    this.#drawnLines = lines.length;
  }

  #lines(): readonly string[] {
    const { slot, tps, nonVoteTps, slotTimeMs, epoch, epochProgress, priorityFee, health } = this.#frame;
    const isLive = this.#state === 'open' && health === 'ok';
    const word = this.#state !== 'open' ? this.#state : health === 'degraded' ? 'degraded' : 'live';
    const width = process.stdout.columns ?? 80;
    const rows: readonly (readonly [string, string])[] = [
      ['Slot', number(slot)],
      ['TPS', `${number(nonVoteTps)} without votes, ${number(tps)} in all`],
      ['Slot time', slotTimeMs == null ? '–' : `${Math.round(slotTimeMs)} ms`],
      ['Priority fee', priorityFee == null ? '–' : `${number(priorityFee)} µLam/CU`],
      ['Epoch', epoch === undefined ? '–' : `${epoch}, ${((epochProgress ?? 0) * 100).toFixed(1)} %`],
      ...(this.#address === undefined
        ? []
        : [['Balance', this.#sol === '' ? '–' : `${this.#sol} SOL at slot ${number(this.#balanceSlot)}`] as const]),
    ];
    return [
      `${styleText(isLive ? 'green' : 'yellow', isLive ? '●' : '○')} ${styleText('bold', word)}  ${terminalText(this.#url)}  ${this.#frames} frames verified`,
      ...rows.map(([label, value]) =>
        `${styleText('dim', label.padEnd(13))}${terminalText(value)}`.slice(0, width + 8),
      ),
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
