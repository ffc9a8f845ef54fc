import type { Clock } from '../domain/clock.ts';
import { readAll } from './read-all.ts';
import { isPassing, pause, pauseMs, retryAfter } from './retry.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';

/** One request, whatever it is about. */
export interface Call {
  /** Path and query, from `/api/v1` on. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** With a body it is a POST. */
  readonly body?: string;
}

/** How long a caller is willing to wait. */
export interface Patience {
  readonly signal?: AbortSignal;
  /** For each try, in milliseconds. */
  readonly timeoutMs?: number;
  /** How often it is tried, the first time included. */
  readonly attempts?: number;
}

/** A 200 or a 304. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Asks until there is an answer. Throws SlotgateError, or the reason of the caller's signal. */
export type Send = (call: Call, patience: Patience) => Promise<Reply>;

export interface SendOptions {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly attempts: number;
  /** A longer body is given up, in bytes. */
  readonly maxBodyBytes: number;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Every route only reads, so any request may be made again. */
export function createSend(options: SendOptions): Send {
  const { clock, random } = options;
  return async (call, patience) => {
    const { attempts = options.attempts, signal } = patience;
    for (let attempt = 1; ; attempt++) {
      try {
        return accepted(await once(call, patience, options), clock.now());
      } catch (thrown) {
        if (!(thrown instanceof SlotgateError) || !isPassing(thrown) || attempt >= attempts) throw thrown;
        const wait = pauseMs(attempt, thrown.retryAfterMs, random);
        if (wait === undefined) throw thrown;
        await pause(wait, clock, signal);
      }
    }
  };
}

/** One try, which ends when its time is over or the caller has lost interest. */
async function once({ target, headers, body }: Call, { signal, timeoutMs }: Patience, o: SendOptions): Promise<Reply> {
  signal?.throwIfAborted();
  const limitMs = timeoutMs ?? o.timeoutMs;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const tooLate = (): void => controller.abort(new SlotgateError('timeout', `no answer in ${limitMs} ms`));
  const cancelTimer = o.clock.after(limitMs, tooLate);
  signal?.addEventListener('abort', onAbort, { once: true });
  const isPost = body !== undefined;
  try {
    const init: RequestInit & { readonly cache: 'no-store' } = {
      method: isPost ? 'POST' : 'GET',
      headers: { ...o.headers, ...headers, ...(isPost && { 'content-type': 'application/json' }) },
      ...(isPost && { body }),
      // A browser would answer a 304 with the body it kept, whose receipt is as old as that.
      cache: 'no-store',
      signal: controller.signal,
    };
    const response = await o.fetch(o.base + target, init);
    return { status: response.status, headers: response.headers, body: await readAll(response, o.maxBodyBytes) };
  } catch (thrown) {
    if (controller.signal.aborted) throw controller.signal.reason;
    if (thrown instanceof SlotgateError) throw thrown;
    throw new SlotgateError('network', 'the gateway can not be reached', { cause: thrown });
  } finally {
    cancelTimer();
    signal?.removeEventListener('abort', onAbort);
  }
}

function accepted(reply: Reply, nowMs: number): Reply {
  const { status, headers, body } = reply;
  if (status === 200 || status === 304) return reply;
  const rpcCode = headers.get('x-rpc-error-code');
  const failure = {
    status,
    retryAfterMs: retryAfter(headers.get('retry-after'), nowMs),
    requestId: headers.get('x-request-id'),
    rpcCode: rpcCode === null ? null : Number(rpcCode),
  };
  const { error, message } = saidIn(body);
  if (isErrorCode(error)) throw new SlotgateError(error, message, failure);
  throw new SlotgateError('unreadable', `status ${status} without a word that is known`, failure);
}

/** What an error's body says; nothing of it when somebody else wrote it, such as a proxy. */
function saidIn(body: Uint8Array): { readonly error: unknown; readonly message: string } {
  try {
    const { error, message } = Object(JSON.parse(new TextDecoder().decode(body)));
    return { error, message: String(message) };
  } catch {
    return { error: undefined, message: '' };
  }
}
