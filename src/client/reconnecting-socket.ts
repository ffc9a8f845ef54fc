import type { Clock } from '../shared/domain/clock.ts';
import { SilenceWatchdog } from '../shared/runtime/silence-watchdog.ts';
import { fatalErrorOf, MAX_DELAY_MS, reconnectDelayMs } from './close-codes.ts';
import type { SlotgateError } from './slotgate-error.ts';
import type { Socket } from './socket.ts';

export interface ReconnectingSocketOptions {
  readonly openSocket: () => Socket;
  readonly clock: Clock;
  readonly random: () => number;
  /** The time without a message after which a connection counts as dead, the time to open it included. */
  readonly silenceMs: number;
  readonly onOpen: () => void;
  readonly onMessage: (text: string) => void;
  /** The longest delay before the next connection, unless the gateway is lost for a long time; 30,000 by default. */
  readonly maxDelayMs?: number;
  readonly onDisconnect: (loss: Loss) => void;
  /** Called when the connection is lost for good. */
  readonly onEnd: (error: SlotgateError) => void;
}

export interface Loss {
  readonly code: number;
  readonly wasOpen: boolean;
  readonly delayMs: number;
}

/** The close code of a connection that broke without a close frame (RFC 6455 7.1.5). */
const ABNORMAL_CLOSURE = 1006;

/** A connection that ends before has failed, whatever it brought: it may end in the same way as soon as it is opened again. */
const STEADY_MS = 5000;

/** A sequence of WebSockets: the next one is opened, after a delay, whenever one closes, breaks or is silent. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  #socket: Socket | undefined;
  #isOpen = false;
  #isClosed = false;
  #watchdog: SilenceWatchdog | undefined;
  #failures = 0;
  #cancelReconnect = (): void => {};

  constructor(options: ReconnectingSocketOptions) {
    this.#options = options;
    this.#connect();
  }

  send(text: string): void {
    if (this.#isOpen) this.#socket?.send(text);
  }

  reconnect(): void {
    this.#onConnectionLost(ABNORMAL_CLOSURE);
  }

  hurry(): void {
    if (this.#socket !== undefined) return;
    this.#cancelReconnect();
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  #connect(): void {
    if (this.#isClosed) return;
    const { openSocket, clock, silenceMs, onOpen, onMessage } = this.#options;
    const socket = openSocket();
    const ifCurrent = (work: (event: { data?: unknown; code?: number }) => void) => (event: object) => {
      if (this.#socket === socket) work(event);
    };
    socket.addEventListener(
      'error', // without a listener `ws` would throw
      ifCurrent(() => {
        if (!this.#isOpen) this.#onConnectionLost(ABNORMAL_CLOSURE); // on Node 20 and 22 no `close` follows
      }),
    );
    if (this.#isClosed) {
      socket.close(); // the owner was called on the way, and has closed this
      return;
    }
    const startMs = clock.monotonic();
    this.#socket = socket;
    this.#watchdog = new SilenceWatchdog({
      clock,
      silenceMs,
      onSilence: () => this.#onConnectionLost(ABNORMAL_CLOSURE),
    });
    this.#watchdog.start();
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
        this.#watchdog?.onMessage();
        if (clock.monotonic() - startMs >= STEADY_MS) this.#failures = 0;
        onMessage(String(data));
      }),
    );
  }

  #onConnectionLost(code: number): void {
    const { clock, random, maxDelayMs = MAX_DELAY_MS, onDisconnect, onEnd } = this.#options;
    if (this.#socket === undefined) return;
    const wasOpen = this.#isOpen;
    this.#disconnect();
    const fatalError = fatalErrorOf(code);
    if (fatalError !== undefined) {
      onEnd(fatalError);
      return;
    }
    const delayMs = reconnectDelayMs(this.#failures++, code, maxDelayMs, random);
    this.#cancelReconnect = clock.after(delayMs, () => this.#connect());
    onDisconnect({ code, wasOpen, delayMs });
  }

  #disconnect(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#cancelReconnect();
    this.#watchdog?.stop();
    socket?.close();
  }
}
