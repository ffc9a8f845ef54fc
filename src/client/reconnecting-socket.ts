import type { Clock } from '../domain/clock.ts';
import { fatalErrorOf, reconnectDelayMs } from './close-codes.ts';
import type { SlotgateError } from './slotgate-error.ts';
import type { Socket } from './socket.ts';

/** What happens on a line that mends itself. */
export interface ReconnectingSocketOptions {
  readonly openSocket: () => Socket;
  readonly clock: Clock;
  readonly random: () => number;
  /** A line that is silent for so long is dead. Opening it counts as silence. */
  readonly silenceMs: number;
  readonly onOpen: () => void;
  readonly onMessage: (text: string) => void;
  /** It is down, and comes back by itself in so many milliseconds. */
  readonly onDisconnect: (inMs: number) => void;
  /** It is down for good. */
  readonly onEnd: (why: SlotgateError) => void;
}

/** The close code of a line that just broke. RFC 6455 7.1.5 */
const ABNORMAL_CLOSURE = 1006;

/** One WebSocket after another: opened again, after a pause, whenever it closes, breaks or falls silent. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  #socket: Socket | undefined;
  #isOpen = false;
  #lastReceivedMs = 0;
  #failures = 0;
  #cancelTimer = (): void => {};

  constructor(options: ReconnectingSocketOptions) {
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
  reconnect(): void {
    this.#onConnectionLost(ABNORMAL_CLOSURE);
  }

  close(): void {
    this.#disconnect();
  }

  #connect(): void {
    const { openSocket, clock, silenceMs, onOpen, onMessage } = this.#options;
    const socket = openSocket();
    const ifCurrent = (work: (event: { data?: unknown; code?: number }) => void) => (event: object) => {
      if (this.#socket === socket) work(event);
    };
    this.#socket = socket;
    this.#lastReceivedMs = clock.monotonic();
    this.#startWatchdog(silenceMs);
    socket.addEventListener('error', () => {}); // `close` follows, and `ws` throws what nobody listens to
    socket.addEventListener(
      'close',
      ifCurrent(({ code = ABNORMAL_CLOSURE }) => this.#onConnectionLost(code)),
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
        this.#lastReceivedMs = clock.monotonic();
        this.#failures = 0;
        onMessage(String(data));
      }),
    );
  }

  /** A timer that was held up, as in a tab in the background, may be late: what counts is when something was heard. */
  #startWatchdog(ms: number): void {
    const { clock, silenceMs } = this.#options;
    this.#cancelTimer = clock.after(ms, () => {
      const remainingMs = this.#lastReceivedMs + silenceMs - clock.monotonic();
      if (remainingMs > 0) this.#startWatchdog(remainingMs);
      else this.#onConnectionLost(ABNORMAL_CLOSURE);
    });
  }

  #onConnectionLost(code: number): void {
    const { clock, random, onDisconnect, onEnd } = this.#options;
    if (this.#socket === undefined) return;
    this.#disconnect();
    const fatalError = fatalErrorOf(code);
    if (fatalError !== undefined) {
      onEnd(fatalError);
      return;
    }
    const delayMs = reconnectDelayMs(this.#failures++, code, random);
    this.#cancelTimer = clock.after(delayMs, () => this.#connect());
    onDisconnect(delayMs);
  }

  #disconnect(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#cancelTimer();
    socket?.close();
  }
}
