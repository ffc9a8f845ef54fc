import { exponentialDelayMs } from '../../runtime/exponential-backoff.ts';
import { afterEvent, type Line, type LineEvent, type LineView, newLine, viewOf } from '../live/state.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Checks the text of a frame, whose receipt is about that request: `SUB` and the target of the stream. One that it does not
 * return or resolve to true for is not shown.
 */
export type Verify = (text: string, request: string) => boolean | Promise<boolean>;

type Listener = (view: LineView, snapshot: Snapshot | undefined) => void;

const BROKEN = 1006;
const SILENCE_MS = 15_000;
const HIDDEN_MS = 60_000;
const BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** After so many connections in a row that brought nothing, the feed asks over HTTP: an upgrade may be refused for good. */
const FAILURES_BEFORE_POLLING = 2;
const POLL_MS = 5000;

/** The time between two tries of the WebSocket meanwhile. */
const RETRY_MS = 60_000;

/** The frames of one gateway, for all widgets of the page: over one WebSocket, or else by asking every five seconds. */
export class Feed {
  readonly #base: string;
  readonly #interval: number;
  readonly #target: string;
  readonly #verify: Verify | undefined;
  readonly #listeners = new Set<Listener>();
  #line: Line;
  #snapshot: Snapshot | undefined;
  #socket: WebSocket | undefined;
  #failures = 0;
  /** When the WebSocket was last tried. */
  #triedMs = Number.NEGATIVE_INFINITY;
  #retry = 0;
  #tick = 0;
  #silence = 0;
  #hidden = 0;

  constructor(base: string, interval: number, verify?: Verify) {
    this.#base = base;
    this.#interval = interval;
    this.#target = `api/v1/stream?interval=${interval}${verify ? '&receipts=1' : ''}`;
    this.#verify = verify;
    this.#line = newLine(interval);
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#hidden);
      if (document.hidden) this.#hidden = setTimeout(() => this.#close(), HIDDEN_MS) as unknown as number;
      else this.#open();
    });
    for (const event of ['online', 'pageshow']) addEventListener(event, () => this.#open());
  }

  /** Calls back now and with each change, until the function that is returned is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#open();
    listener(this.#view, this.#snapshot);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#close();
    };
  }

  get #view(): LineView {
    return viewOf(this.#line, performance.now());
  }

  #open(): void {
    if (this.#socket || this.#listeners.size === 0 || document.hidden || this.#line.isEnded) return;
    if (this.#view.state === 'limited') {
      this.#tryAgain(this.#view.waitMs);
      return;
    }
    clearTimeout(this.#retry);
    const isPolling = this.#failures >= FAILURES_BEFORE_POLLING && !this.#verify; // over HTTP there is no receipt
    if (isPolling && performance.now() - this.#triedMs < RETRY_MS) {
      void this.#poll();
      return;
    }
    this.#triedMs = performance.now();
    try {
      const socket = new WebSocket(this.#base.replace(/^http/, 'ws') + this.#target);
      this.#socket = socket;
      this.#expectMessage();
      socket.onmessage = ({ data }) => void (this.#socket === socket && this.#take(String(data)));
      socket.onclose = ({ code }) => this.#socket === socket && this.#lost(code);
    } catch {
      this.#lost(BROKEN); // an https page may not open ws:
    }
  }

  /** Replaces a connection that has been silent for too long. */
  #expectMessage(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lost(BROKEN), SILENCE_MS + this.#interval) as unknown as number;
  }

  async #take(text: string): Promise<void> {
    if (this.#socket) this.#expectMessage();
    try {
      const snapshot: Snapshot = JSON.parse(text).result;
      const last = this.#snapshot;
      if (snapshot.stream === last?.stream && snapshot.seq < last.seq) return;
      if (this.#verify && !(await this.#verify(text, `SUB /${this.#target}`))) return;
      if (this.#socket) this.#failures = 0;
      this.#snapshot = snapshot;
      this.#line = { ...this.#line, intervalMs: this.#socket ? this.#interval : POLL_MS };
      this.#dispatch({ type: 'frame', health: snapshot.health });
    } catch {
      // not a frame: then nothing has come
    }
  }

  #lost(code: number): void {
    const socket = this.#socket;
    this.#socket = undefined;
    clearTimeout(this.#silence);
    socket?.close();
    this.#failures++;
    this.#dispatch({ type: 'closed', code });
    if (code === 4403) console.error('slotgate: the gateway did not understand the widget');
    const restart = code === 1001 ? 1000 : 0;
    const backoff = exponentialDelayMs(this.#failures, BACKOFF_MS, MAX_BACKOFF_MS);
    this.#tryAgain(Math.max(restart, this.#view.waitMs) + backoff * (0.5 + Math.random() / 2));
  }

  #tryAgain(delayMs: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), delayMs) as unknown as number;
  }

  async #poll(): Promise<void> {
    this.#tryAgain(POLL_MS);
    try {
      const answer = await fetch(`${this.#base}api/v1/network`, { cache: 'no-store' });
      const retryAfter = Number(answer.headers.get('retry-after')) || POLL_MS / 1000;
      if (answer.status === 429) this.#dispatch({ type: 'limited', retryAfterMs: retryAfter * 1000 });
      else if (answer.ok) await this.#take(await answer.text());
      else this.#dispatch({ type: 'closed', code: BROKEN });
    } catch {
      this.#dispatch({ type: 'closed', code: BROKEN });
      this.#triedMs = Number.NEGATIVE_INFINITY; // nobody answers at all: then the WebSocket is no worse
      this.#tryAgain(BACKOFF_MS * 2 + Math.random() * exponentialDelayMs(this.#failures, BACKOFF_MS, MAX_BACKOFF_MS));
    }
  }

  #close(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    for (const timer of [this.#retry, this.#silence, this.#tick]) clearTimeout(timer);
    socket?.close();
  }

  #dispatch(event: LineEvent): void {
    this.#line = afterEvent(this.#line, event, performance.now());
    this.#tell();
  }

  /** Tells the listeners, and again when the state will change by itself. */
  #tell(): void {
    const view = this.#view;
    clearTimeout(this.#tick);
    if (view.changesInMs !== undefined)
      this.#tick = setTimeout(() => this.#tell(), view.changesInMs) as unknown as number;
    for (const listener of this.#listeners) listener(view, this.#snapshot);
  }
}

/** The feeds of the page: where its script was loaded twice, the copies share them. */
const SHARED = Symbol.for('slotgate.feeds');

/** Returns the feed of a gateway, which all widgets with the same interval share. */
export function sharedFeed(base: string, interval: number, verify?: Verify): Feed {
  const page = globalThis as { [SHARED]?: Map<string, Feed> };
  page[SHARED] ??= new Map();
  const key = `${base} ${interval}${verify ? ' verified' : ''}`;
  const feed = page[SHARED].get(key) ?? new Feed(base, interval, verify);
  page[SHARED].set(key, feed);
  return feed;
}
