import { createReader, ReceiptError, type Snapshot } from '../../client/index.ts';
import { parseTrustedKey, type ReceiptFault } from '../../client/verify/index.ts';
import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { Feed } from '../feed/feed.ts';
import { readHealth } from '../feed/read-health.ts';
import { whileSeen } from '../feed/while-seen.ts';
import type { HealthReport } from '../live/health.ts';
import { afterEvent, type Line, type LineView, type LiveState, movedBy, newLine, viewOf } from '../live/state.ts';
import { gatewayUrl } from './gateway-url.ts';
import { keyMemory } from './store.ts';
import { createTrustedClient, isOfClock, readPublicKey, type TrustedClient } from './trusted-client.ts';

/** What has been verified on the line. */
export interface Proof {
  readonly publicKey: string | undefined;
  readonly cluster: string | undefined;
  readonly verified: number;
  readonly refused: number;
  /** Why the newest frame was refused; undefined if it was proven. */
  readonly fault: ReceiptFault | undefined;
  /** The key that the gateway signs with although no key that this browser trusts has signed for it. */
  readonly unknownKey: string | undefined;
}

export interface LiveLineOptions {
  readonly onFrame: (frame: Snapshot) => void;
  readonly onClient: (trusted: TrustedClient) => void;
  readonly onHealth: (report: HealthReport | undefined) => void;
  /** Called when the view or the proof may have changed. */
  readonly onChange: () => void;
}

/** What the tab that has the line sends to the others. Its times count from the moment at which it was sent. */
interface SharedState {
  readonly line: Line;
  readonly proof: Proof;
  readonly frame: Snapshot | undefined;
}

/** What the tabs of one gateway send each other: the state, or a request for it, or that the reader trusts another key. */
type TabMessage = SharedState | 'request' | 'trust';

const HEALTH_MS = 10_000;

/** The shortest time between two clients that replace one for its cluster or its clock. */
const DOUBT_MS = 10_000;

/** The longest pause between two tries: `/health` is free, and a restart takes seconds. */
const MAX_BACKOFF_MS = 1600;

/**
 * The line to the gateway, which all tabs of this page share: one of them, which holds a lock, opens it and verifies each
 * frame, the others draw what it sends. When it closes, or nobody has seen it for a minute, another one opens the line.
 */
export class LiveLine {
  readonly #options: LiveLineOptions;
  /** The number is that of the form of {@link SharedState}: tabs of two builds have a line each. */
  readonly #name = `slotgate line 2 ${gatewayUrl().href}`;
  /** The channel between the tabs; undefined where the reader lets the page keep nothing. */
  readonly #tabs = tryOrUndefined(() => new BroadcastChannel(this.#name));
  #line = newLine(0);
  #proof: Proof = {
    publicKey: undefined,
    cluster: undefined,
    verified: 0,
    refused: 0,
    fault: undefined,
    unknownKey: undefined,
  };
  #frame: Snapshot | undefined;
  #trusted: TrustedClient | undefined;
  #doubtedMs = Number.NEGATIVE_INFINITY;
  /** The client that is being opened: frames that come before it is there wait for the same one. */
  #opening: Promise<TrustedClient> | undefined;
  #feed: Feed | undefined;
  /** Gives the line up, or the place in the queue for it. */
  #leave: AbortController | undefined;
  /** Whether the tab that has the line has sent nothing since this one last requested it. */
  #isUnanswered = false;
  #state: LiveState | undefined;
  #viewTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveLineOptions) {
    this.#options = options;
    this.#tabs?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => this.#onMessage(data));
    whileSeen(
      () => {
        this.#join();
        this.#feed?.wake();
      },
      () => {
        this.#leave?.abort();
        this.#line = afterEvent(this.#line, { type: 'slept' }, performance.now());
        this.#onView();
      },
    );
    setInterval(() => this.#onInterval(), HEALTH_MS);
    if (!document.hidden) this.#join();
    this.#onView();
  }

  get view(): LineView {
    return viewOf(this.#line, performance.now());
  }

  get proof(): Proof {
    return this.#proof;
  }

  /** Trusts the key that the gateway signs with now, as its reader has decided. */
  acceptKey(): void {
    const { cluster, unknownKey } = this.#proof;
    if (cluster === undefined || unknownKey === undefined) return;
    keyMemory.remember(cluster, unknownKey);
    this.#send('trust');
    this.#onTrust();
  }

  /** Replaces the client after a failure for which its cluster or its clock may be to blame: another has those of now. */
  doubt(thrown: unknown, assumedNow = this.#trusted?.now): void {
    const fault = thrown instanceof ReceiptError ? thrown.code : undefined;
    if ((fault !== 'cluster' && !isOfClock(fault)) || performance.now() - this.#doubtedMs < DOUBT_MS) return;
    this.#doubtedMs = performance.now();
    if (fault === 'cluster') this.#trusted = undefined;
    else void this.#openOnce(this.#trusted?.cluster, assumedNow).catch(() => {}); // until it is there, the former one proves what it can
  }

  /**
   * Waits for the line, or steals it, and opens it. Where there are no locks, which are for secure pages whose reader lets
   * them keep data, each tab has its own.
   */
  #join(steal = false): void {
    if (!steal && this.#leave?.signal.aborted === false) return;
    this.#leave?.abort();
    const leave = new AbortController();
    const { signal } = leave;
    this.#leave = leave;
    this.#send('request');
    const lead = (): Promise<void> => this.#lead(signal);
    if (!('locks' in navigator)) void lead();
    else
      navigator.locks.request(this.#name, steal ? { steal } : { signal }, lead).catch(({ name }) => {
        if (name === 'AbortError') {
          leave.abort(); // it may be already
          if (this.#leave === leave && !document.hidden) this.#join(); // another tab has stolen the line: wait for it again
        } else if (!signal.aborted) void lead(); // locks are not allowed
      });
  }

  #lead(signal: AbortSignal): Promise<void> {
    const feed = new Feed(
      {
        base: gatewayUrl().href,
        interval: 0,
        receipts: true,
        polls: true,
        sleeps: false, // this line does, and may be that of tabs which somebody sees
        maxBackoffMs: MAX_BACKOFF_MS,
        clock: systemClock,
        read: (text, request) => this.#read(text, request),
      },
      this.#line,
    );
    this.#feed = feed;
    const stop = feed.listen((_, frame) => this.#onState({ line: feed.line, proof: this.#proof, frame }));
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        stop();
        this.#feed = undefined;
        resolve();
      });
    });
  }

  /** Returns a client that trusts the key of a cluster: by default the one that the gateway serves. */
  async #trust(cluster = this.#trusted?.cluster): Promise<TrustedClient> {
    if (this.#trusted !== undefined && this.#trusted.cluster === cluster) return this.#trusted;
    return this.#openOnce(cluster);
  }

  /** `assumedNow`: what the gateway's time is taken for where it proves none, as while the network stands still. */
  #openOnce(cluster: string | undefined, assumedNow = this.#trusted?.now): Promise<TrustedClient> {
    this.#opening ??= this.#open(cluster, assumedNow).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(cluster: string | undefined, assumedNow: TrustedClient['now'] | undefined): Promise<TrustedClient> {
    const served = cluster ?? (await readHealth(gatewayUrl())).cluster;
    if (served === undefined) throw new Error('the gateway names no cluster yet');
    const trusted = await createTrustedClient(served, createReader, assumedNow);
    this.#trusted = trusted;
    const isOther = served !== this.#proof.cluster; // what was refused of the same one is refused until a frame is proven
    const unrefused = isOther ? { fault: undefined, unknownKey: undefined } : {};
    this.#setProof({ cluster: served, publicKey: trusted.publicKey, ...unrefused });
    this.#options.onClient(trusted);
    return trusted;
  }

  async #read(text: string, request: string | undefined): Promise<Snapshot | undefined> {
    const trusting = this.#trust();
    if (request === undefined) {
      trusting.catch(() => {}); // what is polled has no receipt
      if (this.#proof.fault !== undefined) throw new Error('no receipt'); // the page says that it shows nothing unproven
      return (parseExactJson(text) as { readonly result: Snapshot }).result;
    }
    try {
      const { client } = await trusting;
      const verified = await client.verify<Snapshot>(text, { request });
      this.#setProof({ verified: this.#proof.verified + 1, fault: undefined });
      void this.#rememberSuccessor(verified.receipt.kid);
      return verified.result;
    } catch (thrown) {
      this.doubt(thrown, Date.now); // the clock that refuses what is fresh is wrong
      if (!(thrown instanceof ReceiptError)) return undefined;
      this.#onRefused(thrown.code);
      throw thrown;
    }
  }

  #onRefused(fault: ReceiptFault): void {
    this.#setProof({ refused: this.#proof.refused + 1, fault });
    if (fault === 'unknown-key' && this.#proof.unknownKey === undefined) void this.#learnUnknownKey();
  }

  async #learnUnknownKey(): Promise<void> {
    const publicKey = await readPublicKey().catch(() => undefined);
    if (publicKey !== this.#proof.publicKey) this.#setProof({ unknownKey: publicKey });
  }

  /** Remembers a key that a trusted one has signed for: the verifier has seen that. */
  async #rememberSuccessor(kid: string): Promise<void> {
    const { publicKey, cluster } = this.#proof;
    if (publicKey === undefined || cluster === undefined || parseTrustedKey(publicKey).kid === kid) return;
    const current = await readPublicKey().catch(() => undefined);
    if (current === undefined || parseTrustedKey(current).kid !== kid) return;
    keyMemory.remember(cluster, current);
    this.#setProof({ publicKey: current });
  }

  #onMessage(message: TabMessage): void {
    if (message === 'trust') this.#onTrust();
    else if (message === 'request') this.#share();
    else if (this.#feed === undefined) {
      this.#isUnanswered = false;
      const { cluster } = message.proof;
      this.#onState({ ...message, line: movedBy(message.line, performance.now()) });
      if (cluster !== undefined) void this.#trust(cluster).catch(() => {}); // the next message tries again
    }
  }

  #onTrust(): void {
    this.#trusted = undefined;
    this.#opening = undefined;
    this.#setProof({ unknownKey: undefined, fault: undefined, verified: 0 }); // by that key nothing is verified yet
  }

  #send(message: TabMessage): void {
    this.#tabs?.postMessage(message);
  }

  #share(): void {
    if (this.#feed === undefined) return;
    this.#send({ line: movedBy(this.#line, -performance.now()), proof: this.#proof, frame: this.#frame });
  }

  #onState({ line, proof, frame }: SharedState): void {
    const isNew = frame !== undefined && (frame.seq !== this.#frame?.seq || frame.stream !== this.#frame.stream);
    const isChanged = line !== this.#line;
    [this.#line, this.#proof, this.#frame] = [line, proof, frame ?? this.#frame];
    if (isNew) this.#options.onFrame(frame);
    if (isChanged) this.#share();
    this.#onView();
  }

  #setProof(change: Partial<Proof>): void {
    this.#proof = { ...this.#proof, ...change };
    this.#share();
    this.#options.onChange();
  }

  /** Reports that the view has changed, and again when it will change by itself. */
  #onView(): void {
    clearTimeout(this.#viewTimer);
    const { state, changesInMs } = this.view;
    if (state !== this.#state) void this.#readHealth();
    this.#state = state;
    if (changesInMs !== undefined) this.#viewTimer = setTimeout(() => this.#onView(), changesInMs);
    this.#options.onChange();
  }

  /** Steals the line from a tab that keeps it and is stopped, as phones do with those that nobody sees. */
  #onInterval(): void {
    void this.#readHealth();
    if (document.hidden || this.#feed !== undefined) return;
    if (this.#isUnanswered) this.#join(true);
    this.#isUnanswered = true;
    this.#send('request');
  }

  async #readHealth(): Promise<void> {
    if (document.hidden) return;
    this.#options.onHealth(await readHealth(gatewayUrl()).catch(() => undefined));
  }
}
