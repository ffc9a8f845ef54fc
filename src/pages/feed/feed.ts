import { isSlowCode, type Loss, ReconnectingSocket, type Snapshot } from '../../client/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { afterEvent, type Line, type LineEvent, type LineView, newLine, POLL_MS, viewOf } from '../live/state.ts';
import { readHealth, TIMEOUT_MS } from './read-health.ts';
import { whileSeen } from './while-seen.ts';

export interface FeedOptions {
  /** The gateway's URL, with a slash at its end. */
  readonly base: string;
  /** The time between two frames, in milliseconds; 0 for one each slot. */
  readonly interval: number;
  /** Whether each frame comes with its receipt. */
  readonly receipts: boolean;
  /**
   * Parses a frame, which the gateway sent in answer to `request`: `SUB` and the target of the stream, or undefined for the
   * answer of `/network`, which has no receipt. Resolves to undefined for a frame that can't be read now, and rejects with
   * the reason for one that is refused.
   */
  readonly read: (text: string, request: string | undefined) => Promise<Snapshot | undefined>;
  /** Whether the feed reads `/network` where no stream is to be had. */
  readonly polls: boolean;
  /** Whether the feed closes its connection while nobody sees the page. */
  readonly sleeps: boolean;
  /** The longest pause between two connections while the gateway is lost for a short time, in milliseconds. */
  readonly maxBackoffMs: number;
  readonly clock: Clock;
}

type Listener = (view: LineView, frame: Snapshot | undefined) => void;

const BROKEN = 1006;

/** A silent connection is replaced after this time: a gateway sends a frame each slot, or after five seconds without one. */
const SILENCE_MS = 10_000;

/** After this number of streams in a row that a gateway which answers did not open, the feed polls. */
const REFUSALS_BEFORE_POLLING = 2;

/** The time between two tries of the stream while the feed polls. */
const RETRY_MS = 60_000;

/** The frames of one gateway: over one WebSocket, which is opened again when it is lost, or else by a read each five seconds. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #target: string;
  readonly #listeners = new Set<Listener>();
  #line: Line;
  #frame: Snapshot | undefined;
  #socket: ReconnectingSocket | undefined;
  /** The number of the present attempt: what an earlier one still reports is passed over. */
  #attempt = 0;
  #isPolling = false;
  #isAsleep: boolean;
  #refusals = 0;
  #triedMs = Number.NEGATIVE_INFINITY;
  #cancelRetry = (): void => {};
  #cancelTick = (): void => {};
  #isReading = false;
  #next: string | undefined;

  /** `line` is what is known of it already. */
  constructor(options: FeedOptions, line = newLine(options.interval)) {
    const { interval, receipts } = options;
    const query = [interval > 0 && `interval=${interval}`, receipts && 'receipts=1'].filter(Boolean).join('&');
    this.#options = options;
    this.#target = `api/v1/stream${query && `?${query}`}`;
    this.#line = line;
    this.#isAsleep = options.sleeps && document.hidden;
    if (!options.sleeps) return;
    whileSeen(
      () => this.wake(),
      () => {
        this.#isAsleep = true;
        this.#sleep();
      },
    );
  }

  get line(): Line {
    return this.#line;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#open();
    listener(this.#view, this.#frame);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#frame = undefined;
      this.#sleep();
    };
  }

  /** Opens a connection where there is none, without a further pause. */
  wake(): void {
    this.#isAsleep = false;
    if (this.#view.state !== 'limited') this.#socket?.hurry();
    this.#open();
  }

  get #view(): LineView {
    return viewOf(this.#line, this.#options.clock.monotonic());
  }

  #open(): void {
    if (this.#socket || this.#isPolling || this.#listeners.size === 0 || this.#isAsleep || this.#line.isEnded) return;
    this.#cancelRetry();
    const { state, waitMs } = this.#view;
    const sinceMs = this.#options.clock.monotonic() - this.#triedMs;
    if (state === 'limited') this.#tryAgain(waitMs);
    else if (this.#refusals >= REFUSALS_BEFORE_POLLING && sinceMs < RETRY_MS) void this.#poll();
    else this.#connect();
  }

  #connect(): void {
    const { base, interval, maxBackoffMs, clock } = this.#options;
    this.#socket = new ReconnectingSocket({
      openSocket: () => {
        this.#triedMs = clock.monotonic();
        return new WebSocket(base.replace(/^http/, 'ws') + this.#target); // an https page may open no ws:
      },
      clock,
      random: Math.random,
      silenceMs: SILENCE_MS + interval,
      maxDelayMs: maxBackoffMs,
      onOpen() {},
      onMessage: (text) => {
        this.#next = text;
        void this.#readNext();
      },
      onDisconnect: (loss) => this.#onLost(loss),
      onEnd: ({ message }) => {
        console.error(`slotgate: ${message}`);
        this.#drop();
        this.#dispatch({ type: 'ended' });
      },
    });
  }

  #onLost({ code, wasOpen, delayMs }: Loss): void {
    if (isSlowCode(code)) this.#dispatch({ type: 'limited', retryAfterMs: delayMs });
    else if (wasOpen || !this.#options.polls) this.#dispatch({ type: 'closed', code });
    else {
      this.#refusals++;
      if (this.#refusals >= REFUSALS_BEFORE_POLLING) this.#drop();
      if (!this.#isPolling) void this.#poll();
    }
  }

  /** Reads over HTTP in place of a stream that was not opened; why, browsers keep to themselves. */
  async #poll(): Promise<void> {
    const attempt = this.#attempt;
    this.#isPolling = true;
    const isAnswered = await this.#readState().then(
      () => true,
      () => false,
    );
    if (attempt !== this.#attempt) return;
    this.#isPolling = false;
    if (!isAnswered) {
      this.#refusals = 0;
      this.#dispatch({ type: 'closed', code: BROKEN });
    }
    const { state, waitMs } = this.#view;
    if (state === 'limited') this.#drop();
    if (this.#socket === undefined) this.#tryAgain(waitMs || (isAnswered ? POLL_MS : 0));
  }

  /** Reads the state over HTTP. Rejects if no gateway answers. */
  async #readState(): Promise<void> {
    const { base } = this.#options;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(`${base}api/v1/network`, { cache: 'no-store', signal });
    const retryAfterSec = Number(answer.headers.get('retry-after'));
    if (answer.ok) await this.#accept(await answer.text(), undefined);
    else if (answer.status === 429) this.#dispatch({ type: 'limited', retryAfterMs: retryAfterSec * 1000 || POLL_MS });
    else this.#dispatch({ type: 'answer', ...(await readHealth(base)) });
  }

  /** Reads one text after the other; of those that come while one is read, the newest. */
  async #readNext(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#next !== undefined) {
      const text = this.#next;
      this.#next = undefined;
      await this.#accept(text, `SUB /${this.#target}`);
    }
    this.#isReading = false;
  }

  async #accept(text: string, request: string | undefined): Promise<void> {
    const attempt = this.#attempt;
    const frame = await this.#options.read(text, request).catch((thrown) => {
      if (attempt !== this.#attempt) return;
      if (!this.#line.isRefused) console.warn(`slotgate: ${thrown}`);
      this.#dispatch({ type: 'refused' });
    });
    if (!frame || attempt !== this.#attempt) return;
    const { slot, health, seq, stream } = frame;
    if (stream === this.#frame?.stream && seq < this.#frame.seq) return;
    const isPolled = request === undefined;
    if (!isPolled) this.#refusals = 0;
    const isFirst = this.#line.frame === undefined;
    this.#frame = frame;
    this.#dispatch({ type: 'frame', slot, stream, health, isPolled });
    if (!isFirst || health === 'ok') return;
    // the slot may have stood still for long before this frame
    const report = await readHealth(this.#options.base).catch(() => undefined);
    if (report !== undefined) this.#dispatch({ type: 'answer', ...report });
  }

  #tryAgain(delayMs: number): void {
    this.#cancelRetry();
    this.#cancelRetry = this.#options.clock.after(delayMs, () => this.#open());
  }

  #drop(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** Closes the line: what it will bring next is not known. */
  #sleep(): void {
    this.#drop();
    this.#attempt++;
    this.#isPolling = false;
    this.#next = undefined;
    this.#cancelRetry();
    this.#dispatch({ type: 'slept' });
  }

  #dispatch(event: LineEvent): void {
    this.#line = afterEvent(this.#line, event, this.#options.clock.monotonic());
    this.#show();
  }

  /** Calls the listeners, and again when the state will change by itself. */
  #show(): void {
    this.#cancelTick();
    const view = this.#view;
    if (view.changesInMs !== undefined && this.#listeners.size > 0)
      this.#cancelTick = this.#options.clock.after(view.changesInMs, () => this.#show());
    for (const listener of this.#listeners) listener(view, this.#frame);
  }
}
