import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { basicAuth, connectionFault, httpFault, type NodeOptions, redactor } from '../../gateway/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';

/** The answer of a node to one call. */
export interface RpcAnswer {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | undefined;
  readonly ms: number;
  /** How far the clock of the node is ahead of ours, in milliseconds; undefined if its response has no date. */
  readonly clockLeadMs: number | undefined;
}

/** The message of an error where the time for a node was over. */
export const NO_ANSWER_IN_TIME = 'no answer in time';

/** What HTTP 501 says, in JSON-RPC. */
const UNKNOWN_METHOD = { code: -32601, message: 'Method not found' };

/** Calls one node over HTTP and WebSocket, for a doctor: without retries, hedges and pools. */
export class NodeProbe {
  readonly #node: NodeOptions;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #redact: (text: string) => string;
  readonly #agent: Agent;

  /** A response of more than `maxBytes` is a fault. */
  constructor(node: NodeOptions, clock: Clock, signal: AbortSignal, maxBytes: number) {
    this.#node = node;
    this.#clock = clock;
    this.#signal = signal;
    this.#redact = redactor(node);
    this.#agent = new Agent({ maxResponseSize: maxBytes });
  }

  /** Calls a method. Rejects if no JSON-RPC response comes. */
  async call(method: string, params: readonly unknown[] = []): Promise<RpcAnswer> {
    const startedMs = this.#clock.monotonic();
    const url = new URL(this.#node.url);
    const fail = (thrown: unknown): never => {
      throw new Error(this.#signal.aborted ? NO_ANSWER_IN_TIME : connectionFault(thrown));
    };
    const response = await request(url.origin + url.pathname + url.search, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...basicAuth(url),
        ...this.#node.headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: this.#signal,
      dispatcher: this.#agent,
    }).catch(fail);
    const text = await response.body.text().catch(fail);
    const ms = this.#clock.monotonic() - startedMs;
    if (response.statusCode === 429) throw new Error('too many requests (HTTP 429)');
    const { result, error } =
      response.statusCode === 501 ? { result: undefined, error: UNKNOWN_METHOD } : parseObject(text);
    if (result === undefined && error === undefined) throw new Error(httpFault(response.statusCode));
    const date = Date.parse(String(response.headers['date'] ?? ''));
    return {
      result,
      error: error === undefined ? undefined : this.#errorOf(error),
      ms,
      clockLeadMs: Number.isNaN(date) ? undefined : date + HALF_SECOND_MS - this.#clock.now(),
    };
  }

  #errorOf(error: unknown): { readonly code: number; readonly message: string } {
    const { code, message } = Object(error);
    return { code: Number(code), message: this.#redact(String(message)) };
  }

  /** Opens the node's WebSocket. Rejects if it can't be opened. */
  async openSocket() {
    const socket = new WebSocket(this.#node.wsUrl, {
      handshakeTimeout: HANDSHAKE_MS,
      ...(this.#node.headers !== undefined && { headers: this.#node.headers }),
    });
    const onAbort = (): void => socket.terminate();
    this.#signal.addEventListener('abort', onAbort, { once: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', (thrown) => reject(new Error(connectionFault(thrown))));
      socket.once('close', () => reject(new Error('connection closed')));
    });
    socket.on('error', () => {}); // `close` follows
    let lastId = 0;
    return {
      firstNews: (method: string, params: readonly unknown[]) => this.#firstNews(socket, ++lastId, method, params),
      close: () => socket.terminate(),
    };
  }

  /** Subscribes and returns the milliseconds until the first news. Rejects if none comes. */
  #firstNews(socket: WebSocket, id: number, method: string, params: readonly unknown[]): Promise<number> {
    const startedMs = this.#clock.monotonic();
    let subscription: string | undefined;
    return new Promise<number>((resolve, reject) => {
      const end = (work: () => void): void => {
        cancel();
        socket.off('message', onMessage).off('close', onClose);
        work();
      };
      const onClose = (): void => end(() => reject(new Error('connection closed')));
      const onMessage = (data: Buffer): void => {
        const text = data.toString();
        const message = parseObject(text);
        if (message['id'] === id && message['error'] !== undefined) {
          const { code, message: reason } = this.#errorOf(message['error']);
          end(() => reject(new Error(`refused: error ${code} ${reason}`)));
        } else if (message['id'] === id) subscription = idIn(text, 'result');
        else if (subscription !== undefined && idIn(text, 'subscription') === subscription)
          end(() => resolve(this.#clock.monotonic() - startedMs));
      };
      const cancel = this.#clock.after(FIRST_NEWS_MS, () => {
        const what = subscription === undefined ? 'no acknowledgement' : 'acknowledged, but no news';
        end(() => reject(new Error(`${what} in ${FIRST_NEWS_MS / 1000} s`)));
      });
      socket.on('message', onMessage).on('close', onClose);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }
}

/** `Date` has whole seconds: what it names is half a second earlier on average. */
const HALF_SECOND_MS = 500;
const HANDSHAKE_MS = 5000;

/** Longest wait for the first news of a subscription. */
const FIRST_NEWS_MS = 5000;

/** Returns the id of a subscription as it is written: some nodes use numbers that a double would round. */
const idIn = (text: string, member: 'result' | 'subscription'): string | undefined =>
  new RegExp(`"${member}":\\s*("?[\\w-]+"?)`).exec(text)?.[1];

const parseObject = (text: string): Readonly<Record<string, unknown>> => Object(tryOrUndefined(() => JSON.parse(text)));
