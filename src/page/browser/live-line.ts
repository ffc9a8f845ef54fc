import { ReceiptError, type Snapshot, type Stream } from '../../client/client.ts';
import { openGlobalSocket, type Socket } from '../../client/socket.ts';
import type { ReceiptFault } from '../../receipts/verify/receipt-error.ts';
import { parseTrustedKey } from '../../receipts/verify/trusted-key.ts';
import { afterEvent, type LineEvent, type LineView, newLine, viewOf } from '../live/state.ts';
import { apiUrl } from './gateway-url.ts';
import {
  createTrustedClient,
  type HealthReport,
  keyMemory,
  readHealth,
  readPublicKey,
  type TrustedClient,
} from './trusted-client.ts';

/** What the page has verified on its line. */
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

/** Close code of a connection that broke. */
const BROKEN = 1006;
const GOING_AWAY = 1001;

const HEALTH_MS = 10_000;

/** A silent connection is replaced after so long. */
const SILENCE_MS = 10_000;

/** A tab that nobody sees for so long closes its line. */
const HIDDEN_MS = 60_000;

/** As long as the gateway was lost for less, it is looked for often: `/health` is free, and a restart takes seconds. */
const SOON_LOST = 200;

/** The line from this page to its gateway: opened, verified, opened again, closed while nobody looks. */
export class LiveLine {
  readonly #options: LiveLineOptions;
  #line = newLine(0);
  #proof: Proof = {
    publicKey: undefined,
    cluster: undefined,
    verified: 0,
    refused: 0,
    fault: undefined,
    unknownKey: undefined,
  };
  #trusted: TrustedClient | undefined;
  #stream: Stream | undefined;
  #socket: Socket | undefined;
  /** The number of the current connection: what an earlier one still reports is passed over. */
  #connection = 0;
  #isConnecting = false;
  /** Whether nobody has looked for so long that the line is closed. */
  #isAsleep = false;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #viewTimer: ReturnType<typeof setTimeout> | undefined;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveLineOptions) {
    this.#options = options;
    document.addEventListener('visibilitychange', () => this.#onVisibility());
    addEventListener('online', () => this.#reconnectNow());
    addEventListener('pageshow', () => this.#reconnectNow());
    setInterval(() => void this.#pollHealth(), HEALTH_MS);
    void this.#connect();
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
    this.#trusted = undefined;
    this.#setProof({ unknownKey: undefined, fault: undefined });
    this.#disconnect();
    void this.#connect();
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting || this.#isAsleep || this.#stream !== undefined) return;
    this.#isConnecting = true;
    clearTimeout(this.#retryTimer);
    this.#connection++;
    const connection = this.#connection;
    try {
      const report = await readHealth();
      this.#options.onHealth(report);
      if (!report.isUsable) throw new Error(report.message);
      const { cluster } = report.health;
      if (this.#trusted?.cluster !== cluster) await this.#trust(cluster);
      this.#openStream(connection);
    } catch {
      this.#onClosed(BROKEN);
    } finally {
      this.#isConnecting = false;
    }
  }

  async #trust(cluster: string): Promise<void> {
    const trusted = await createTrustedClient(cluster, (url, headers) => this.#openSocket(url, headers));
    this.#trusted = trusted;
    this.#setProof({ cluster, publicKey: trusted.publicKey, fault: undefined, unknownKey: undefined });
    this.#options.onClient(trusted);
  }

  #openStream(connection: number): void {
    const ifCurrent =
      <T extends readonly unknown[]>(work: (...args: T) => void) =>
      (...args: T): void => {
        if (connection === this.#connection) work(...args);
      };
    this.#stream = this.#trusted?.client.stream({
      receipts: true,
      silenceMs: SILENCE_MS,
      onSnapshot: ifCurrent((frame, { receipt }) => {
        this.#setProof({ verified: this.#proof.verified + 1, fault: undefined });
        this.#dispatch({ type: 'frame', health: frame.health });
        this.#options.onFrame(frame);
        if (receipt !== null) void this.#rememberSuccessor(receipt.kid);
      }),
      onError: ifCurrent((error) => this.#onRefused(error)),
    });
  }

  /** Opens a WebSocket for the stream, and sees the code with which it closes. */
  #openSocket(url: string, headers: Readonly<Record<string, string>>): Socket {
    const socket = openGlobalSocket(url, headers);
    if (this.#socket !== undefined) this.#dispatch({ type: 'closed', code: BROKEN }); // it was silent
    this.#socket = socket;
    let isOpen = false;
    socket.addEventListener('open', () => {
      isOpen = true;
    });
    socket.addEventListener('close', ({ code = BROKEN }) => {
      if (this.#socket !== socket) return;
      this.#disconnect();
      if (isOpen) this.#onClosed(code);
      else void this.#askWhy().then((retryAfterMs) => this.#onClosed(BROKEN, retryAfterMs));
    });
    return socket;
  }

  /** Asks why an upgrade was refused, which browsers don't tell. Resolves to the wait if it was a limit. */
  async #askWhy(): Promise<number | undefined> {
    const response = await fetch(apiUrl('/network'), { cache: 'no-store' }).catch(() => undefined);
    if (response?.status !== 429) return undefined;
    return Number(response.headers.get('retry-after') ?? 5) * 1000;
  }

  #onClosed(code: number, retryAfterMs?: number): void {
    if (retryAfterMs !== undefined) this.#dispatch({ type: 'limited', retryAfterMs });
    else this.#dispatch({ type: 'closed', code });
    const { lost, isEnded } = this.#line;
    if (code === 4403) console.error('slotgate: the gateway did not understand a message of this page');
    if (isEnded) return;
    const { waitMs } = this.view;
    const [leastMs, spreadMs] =
      code === GOING_AWAY ? [1000, 1500] : lost <= 1 ? [100, 400] : lost < SOON_LOST ? [800, 800] : [5000, 10_000];
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connect(), waitMs + leastMs + Math.random() * spreadMs);
  }

  #onRefused(error: unknown): void {
    if (!(error instanceof ReceiptError)) return;
    this.#setProof({ refused: this.#proof.refused + 1, fault: error.code });
    if (error.code === 'unknown-key' && this.#proof.unknownKey === undefined) void this.#learnUnknownKey();
    if (error.code !== 'cluster') return;
    this.#disconnect(); // the gateway serves another cluster now: its health tells which
    this.#onClosed(BROKEN);
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

  async #pollHealth(): Promise<void> {
    if (document.hidden || this.#stream === undefined) return; // while there is no stream, each try reads it
    this.#options.onHealth(await readHealth().catch(() => undefined));
  }

  #onVisibility(): void {
    clearTimeout(this.#hiddenTimer);
    this.#isAsleep = false;
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#sleep(), HIDDEN_MS);
    else this.#reconnectNow();
  }

  #sleep(): void {
    this.#isAsleep = true;
    clearTimeout(this.#retryTimer);
    this.#disconnect();
  }

  #reconnectNow(): void {
    if (!document.hidden && !this.#line.isEnded && this.view.state !== 'limited') void this.#connect();
  }

  #disconnect(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#socket = undefined;
    this.#connection++;
    stream?.close();
  }

  #setProof(change: Partial<Proof>): void {
    this.#proof = { ...this.#proof, ...change };
    this.#options.onChange();
  }

  #dispatch(event: LineEvent): void {
    this.#line = afterEvent(this.#line, event, performance.now());
    this.#tell();
  }

  /** Tells that the view has changed, and again when it will change by itself. */
  #tell(): void {
    clearTimeout(this.#viewTimer);
    const { changesInMs } = this.view;
    if (changesInMs !== undefined) this.#viewTimer = setTimeout(() => this.#tell(), changesInMs);
    this.#options.onChange();
  }
}
