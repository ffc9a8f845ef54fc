import { tryOrUndefined } from '../shared/domain/try-or-undefined.ts';
import { parseRetryAfterMs } from '../shared/runtime/retry-after.ts';
import { sleep } from '../shared/runtime/sleep.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import type { ClientOptions } from './client-options.ts';
import { baseUrlOf } from './request-target.ts';
import { isTransient, retryDelayMs } from './retry.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';

/** One request to the gateway. */
export interface GatewayRequest {
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of a POST; a request without it is a GET. */
  readonly body?: string;
}

/** Timeouts and retries of one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** The number of attempts, the first included. */
  readonly attempts?: number;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Sends a request, with retries. Rejects with SlotgateError, or the reason of the caller's signal. */
export type SendRequest = (request: GatewayRequest, options: RequestOptions) => Promise<GatewayResponse>;

type Sender = Required<Pick<ClientOptions, 'headers' | 'timeoutMs' | 'maxBodyBytes' | 'fetch' | 'clock'>> & {
  readonly baseUrl: string;
};

export function createSender(options: ClientOptions): SendRequest {
  const { clock = systemClock, random = Math.random } = options;
  const sender: Sender = {
    baseUrl: baseUrlOf(options.url),
    headers: options.headers ?? {},
    timeoutMs: options.timeoutMs ?? 10_000,
    maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)), // a browser's `fetch` must be called on the window
    clock,
  };
  return async (request, requestOptions) => {
    const { attempts = options.attempts ?? 4, signal } = requestOptions;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await sendOnce(request, requestOptions, sender);
        return requireSuccess(response, clock.now(), sender.baseUrl + request.target);
      } catch (thrown) {
        if (!(thrown instanceof SlotgateError) || !isTransient(thrown) || !(attempt < attempts)) throw thrown; // also for NaN
        const delayMs = retryDelayMs(attempt, thrown.retryAfterMs, random);
        if (delayMs === undefined) throw thrown;
        await sleep(clock, delayMs, signal);
      }
    }
  };
}

async function sendOnce(
  { target, headers, body }: GatewayRequest,
  { signal, timeoutMs }: RequestOptions,
  sender: Sender,
): Promise<GatewayResponse> {
  signal?.throwIfAborted();
  const timeLimitMs = timeoutMs ?? sender.timeoutMs;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const onTimeout = (): void => controller.abort(new SlotgateError('timeout', `no answer in ${timeLimitMs} ms`));
  const cancelTimer = sender.clock.after(timeLimitMs, onTimeout);
  signal?.addEventListener('abort', onAbort, { once: true });
  const isPost = body !== undefined;
  try {
    const init: RequestInit & { readonly cache: 'no-store' } = {
      method: isPost ? 'POST' : 'GET',
      headers: { ...sender.headers, ...headers, ...(isPost && { 'content-type': 'application/json' }) },
      ...(isPost && { body }),
      // A browser would replace a 304 by its cached body, whose receipt is too old.
      cache: 'no-store',
      // Followed, a redirect would take the API key or the stake proof to whatever origin it names.
      redirect: 'manual',
      signal: controller.signal,
    };
    const response = await sender.fetch(sender.baseUrl + target, init);
    const { status } = response;
    if (isRedirect(response)) {
      response.body?.cancel().catch(() => {}); // unread it would hold its connection
      throw new SlotgateError('unreadable', REDIRECTED, { status });
    }
    return { status, headers: response.headers, body: await readResponseBody(response, sender.maxBodyBytes) };
  } catch (thrown) {
    if (controller.signal.aborted) throw controller.signal.reason;
    if (thrown instanceof SlotgateError) throw thrown;
    throw new SlotgateError('network', "the gateway can't be reached", { cause: thrown });
  } finally {
    cancelTimer();
    signal?.removeEventListener('abort', onAbort);
  }
}

const REDIRECTED = 'the URL redirects, and credentials are sent nowhere else: use the final URL';

const isRedirect = ({ status, type }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);

/** Returns a response that is no error; throws what the gateway says. */
export function requireSuccess(response: GatewayResponse, nowMs: number, url: string): GatewayResponse {
  const { status, headers, body } = response;
  if (status === 200 || status === 304) return response;
  const rpcCode = headers.get('x-rpc-error-code');
  const details = {
    status,
    retryAfterMs: parseRetryAfterMs(headers.get('retry-after'), nowMs),
    requestId: headers.get('x-request-id'),
    rpcCode: rpcCode === null ? null : Number(rpcCode),
    cluster: headers.get('x-cluster'),
    help: helpIn(headers.get('link'), url),
  };
  const { error, message } = Object(tryOrUndefined(() => JSON.parse(new TextDecoder().decode(body)))); // a proxy may have written it
  if (isErrorCode(error)) throw new SlotgateError(error, typeof message === 'string' ? message : '', details);
  throw new SlotgateError('unreadable', `status ${status} without a known error code`, details);
}

function helpIn(link: string | null, url: string): string | null {
  const [, path = ''] = /^<([^>]+)>; rel="help"$/.exec(link ?? '') ?? [];
  return path !== '' && URL.canParse(path, url) ? new URL(path, url).href : null;
}

/** Reads a whole body. Throws `unreadable` if it is longer than `maxBytes`, so that no server can fill the memory. */
async function readResponseBody({ body, status }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (!(length <= maxBytes)) {
      reader.cancel().catch(() => {}); // the result of cancelling does not matter
      throw new SlotgateError('unreadable', `the answer is longer than ${maxBytes} bytes`, { status });
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
