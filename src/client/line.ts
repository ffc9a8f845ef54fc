import type { Clock } from '../domain/clock.ts';
import { endOf, reconnectMs } from './close-code.ts';
import type { SlotgateError } from './slotgate-error.ts';
import type { Socket } from './socket.ts';

/** What happens on a line that mends itself. */
export interface LineOptions {
  readonly open: () => Socket;
  readonly clock: Clock;
  readonly random: () => number;
  /** A line that is silent for so long is dead. Opening it counts as silence. */
  readonly silenceMs: number;
  readonly onOpen: () => void;
  readonly onMessage: (text: string) => void;
  /** It is down, and comes back by itself in so many milliseconds. */
  readonly onDown: (inMs: number) => void;
  /** It is down for good. */
  readonly onEnd: (why: SlotgateError) => void;
}

/** The close code of a line that just broke. RFC 6455 7.1.5 */
const BROKEN = 1006;

/** One WebSocket after another: opened again, after a pause, whenever it closes, breaks or falls silent. */
export class Line {
  readonly #options: LineOptions;
  #socket: Socket | undefined;
  #isOpen = false;
  #heardMs = 0;
  #failures = 0;
  #cancel = (): void => {};

  constructor(options: LineOptions) {
    this.#options = options;
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    if (this.#isOpen) this.#socket?.send(text);
  }

  /** Gives this connection up for another one. */
  restart(): void {
    this.#lost(BROKEN);
  }

  close(): void {
    this.#leave();
  }

  #connect(): void {
    const { open, clock, silenceMs, onOpen, onMessage } = this.#options;
    const socket = open();
    const ifCurrent = (work: (event: { data?: unknown; code?: number }) => void) => (event: object) => {
      if (this.#socket === socket) work(event);
    };
    this.#socket = socket;
    this.#heardMs = clock.monotonic();
    this.#watch(silenceMs);
    socket.addEventListener('error', () => {}); // `close` follows, and `ws` throws what nobody listens to
    socket.addEventListener(
      'close',
      ifCurrent(({ code = BROKEN }) => this.#lost(code)),
    );
    socket.addEventListener(
      'open',
      ifCurrent(() => {
        this.#isOpen = true;
        onOpen();
      }),
    );
    socket.addEventListener(
      'message',
      ifCurrent(({ data }) => {
        this.#heardMs = clock.monotonic();
        this.#failures = 0;
        onMessage(String(data));
      }),
    );
  }

  /** A timer that was held up, as in a tab in the background, may be late: what counts is when something was heard. */
  #watch(ms: number): void {
    const { clock, silenceMs } = this.#options;
    this.#cancel = clock.after(ms, () => {
      const restMs = this.#heardMs + silenceMs - clock.monotonic();
      if (restMs > 0) this.#watch(restMs);
      else this.#lost(BROKEN);
    });
  }

  #lost(code: number): void {
    const { clock, random, onDown, onEnd } = this.#options;
    if (this.#socket === undefined) return;
    this.#leave();
    const end = endOf(code);
    if (end !== undefined) {
      onEnd(end);
      return;
    }
    const inMs = reconnectMs(this.#failures++, code, random);
    this.#cancel = clock.after(inMs, () => this.#connect());
    onDown(inMs);
  }

  #leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#cancel();
    socket?.close();
  }
}
