import type { Readable } from 'node:stream';
import { styleText } from 'node:util';
import type { Snapshot } from '../../client/index.ts';
import {
  afterEvent,
  describeView,
  formatSpan,
  type HealthReport,
  healthSentence,
  isCurrent,
  isOld,
  type LineEvent,
  newLine,
  SlotStrip,
  viewOf,
} from '../../pages/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';

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

/** The time between two reads of the nodes, which are free, in milliseconds. */
const NODES_MS = 10_000;

export interface WatchScreenOptions {
  readonly url: string;
  readonly address: string | undefined;
  readonly end: () => void;
  readonly clock: Clock;
  readonly write: (text: string) => void;
  /** Returns the lines of the terminal; undefined where it does not say. */
  readonly rows: () => number | undefined;
  /** Where keys come from, if it is a terminal. */
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  /** Reads what the gateway says of its nodes; undefined if it does not answer. */
  readonly readNodes: () => Promise<HealthReport | undefined>;
}

/** A live network on the alternate screen of a terminal, of any width. */
export class WatchScreen {
  readonly #options: WatchScreenOptions;
  #line = newLine(0);
  #frames = 0;
  #frame: Partial<Snapshot> = {};
  #sol = '';
  #balanceSlot = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #cancelTick = (): void => {};
  readonly #strip = new SlotStrip();
  #nodes: HealthReport | undefined;
  #cancelNodes = (): void => {};
  #isFrozen = false;
  #hasHelp = false;

  constructor(options: WatchScreenOptions) {
    this.#options = options;
    options.write(ENTER);
    process.on('exit', this.#leave); // an error that nobody catches is to be read, and the shell to be used
    const { input } = options;
    if (input.isTTY === true) {
      input.setRawMode?.(true);
      input.on('data', this.#onKey).resume();
    }
    process.stdout.on('resize', this.#onResize);
    this.#draw();
    void this.#readNodes();
  }

  frame(_body: string, snapshot: Pick<Snapshot, 'slot' | 'health'> & Partial<Snapshot>): void {
    this.#frames++;
    this.#frame = snapshot;
    const { slot, health, stream, seq, updatedAt } = snapshot;
    if (stream !== undefined && seq !== undefined && updatedAt !== undefined)
      this.#strip.add({ slot, stream, seq, updatedAt });
    this.#apply({ type: 'frame', slot, stream, health, isPolled: false });
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
    this.#cancelNodes();
    process.stdout.off('resize', this.#onResize);
    process.off('exit', this.#leave);
    this.#leave();
    const { input } = this.#options;
    if (input.isTTY !== true) return;
    input.setRawMode?.(false);
    input.off('data', this.#onKey).pause();
  }

  readonly #leave = (): void => this.#options.write(LEAVE);

  readonly #onKey = (bytes: Buffer): void => {
    const key = bytes.toString().toLowerCase();
    if (['q', '\u0003', '\u0004'].includes(key)) this.#options.end();
    if (key === '?') this.#hasHelp = !this.#hasHelp;
    if (key === 'f') this.#isFrozen = !this.#isFrozen;
    if (key === '?' || key === 'f') this.#write();
  };

  /** A terminal of another size has other lines: they are all drawn again. */
  readonly #onResize = (): void => this.#write();

  async #readNodes(): Promise<void> {
    const { clock, readNodes } = this.#options;
    this.#cancelNodes = clock.after(NODES_MS, () => void this.#readNodes());
    const nodes = await readNodes();
    this.#nodes = nodes !== undefined && isReadable(nodes) ? nodes : undefined;
  }

  #apply(event: LineEvent): void {
    this.#line = afterEvent(this.#line, event, this.#options.clock.monotonic());
  }

  /** Draws the screen, and again when the age of the slot is another one. */
  #draw(): void {
    const { clock } = this.#options;
    this.#drawnMs = clock.monotonic();
    this.#cancelTick();
    const { changesInMs } = viewOf(this.#line, this.#drawnMs);
    if (changesInMs !== undefined) this.#cancelTick = clock.after(changesInMs, () => this.#draw());
    if (!this.#isFrozen) this.#write();
  }

  #write(): void {
    const { write, rows } = this.#options;
    const lines = this.#lines().slice(0, rows()); // one line more would scroll the first one away
    write(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`);
  }

  #lines(): readonly string[] {
    const { slot, slotTimeMs, epoch, epochProgress } = this.#frame;
    const view = viewOf(this.#line, this.#drawnMs);
    const { tps, nonVoteTps, priorityFee } = isOld(view) ? {} : this.#frame;
    const isLive = view.state === 'live';
    const color = isLive ? 'green' : isCurrent(view) || view.state === 'slow' ? 'yellow' : 'red';
    const rows: readonly (readonly [string, string])[] = [
      ['Slot', slot === undefined ? '–' : `${number(slot)}  ${formatAge(view.slotAgeMs)} ago`],
      ['TPS', `${number(nonVoteTps)} without votes, ${number(tps)} in all`],
      ['Slot time', slotTimeMs == null ? '–' : `${Math.round(slotTimeMs)} ms`],
      ['Priority fee', priorityFee == null ? '–' : `${number(priorityFee)} µLam/CU`],
      ['Last slots', stripText(this.#strip)],
      ['Nodes', healthSentence(this.#nodes, view)],
      ['Epoch', epoch === undefined ? '–' : `${number(epoch)} · ${((epochProgress ?? 0) * 100).toFixed(1)}% complete`],
      ...(this.#options.address === undefined
        ? []
        : [['Balance', this.#sol === '' ? '–' : `${this.#sol} SOL at slot ${number(this.#balanceSlot)}`] as const]),
    ];
    return [
      `${styleText(color, isLive ? '●' : '○')} ${styleText('bold', describeView(view))}  ${visibleText(this.#options.url)}  ${this.#frames} ${this.#frames === 1 ? 'frame' : 'frames'} verified`,
      ...rows.map(([label, value]) => `${styleText('dim', label.padEnd(13))}${visibleText(value)}`),
      '',
      styleText('dim', this.#isFrozen ? 'frozen: f goes on   q ends' : 'q ends   f freezes   ? explains'),
      ...(this.#hasHelp ? HELP.map((line) => styleText('dim', line)) : []),
    ];
  }
}

/** Returns whether a report has what is shown of it: no receipt proves it, and another version may have other members. */
function isReadable({ health }: HealthReport): boolean {
  if (health === undefined) return true;
  const { upstreams, problems } = health;
  const areLists = Array.isArray(upstreams) && Array.isArray(problems);
  return areLists && upstreams.every((node) => node !== null) && problems.every((text) => typeof text === 'string');
}

const number = (value: number | bigint | null | undefined): string =>
  value == null
    ? '–'
    : typeof value === 'number'
      ? Math.round(value).toLocaleString('en-US')
      : value.toLocaleString('en-US');

const formatAge = (ms: number): string => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatSpan(ms));

const HELP = [
  'Every frame is verified before it is shown. A slot comes each 400 ms; its age counts by the clock of this machine.',
  'Last slots: higher is slower, up to 800 ms; × is a slot of which no block was seen.',
  'Priority fee: of a transaction that is to land soon, in micro-lamports for each compute unit.',
];

const BARS = '▁▂▃▄▅▆▇█';

/** A bar is full at this time of a slot, in milliseconds. */
const FULL_MS = 800;
const SHOWN_SLOTS = 60;

/** Draws the newest slots, the newest right: as high as they took long. */
function stripText({ cells }: SlotStrip): string {
  const barOf = (ms: number): string => BARS[Math.min(7, Math.floor((ms / FULL_MS) * 8))] ?? '';
  return cells
    .slice(-SHOWN_SLOTS)
    .map(({ ms }) => (ms === undefined ? ' ' : ms === null ? '×' : barOf(ms)))
    .join('');
}
