import { type Dispatcher, errors, Pool } from 'undici';
import { decodeUri } from '../../../shared/domain/decode-uri.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import type { ByteBudget } from '../failsafe/byte-budget.ts';
import type { NodeOptions, UpstreamSettings } from '../upstream-options.ts';
import { connectionFault } from './failure-reason.ts';
import { ResponseParts } from './response-parts.ts';

export interface HttpResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** Request whose bytes are counted, also those of a response that is refused. */
  readonly cost: RequestCost | undefined;
}

/** Posts JSON to one node. Its errors name neither the URL nor the host. */
export interface HttpTransport {
  /**
   * Throws `upstream_unavailable` when no response starts, `upstream_error` when it breaks off, `result_too_large`
   * when it is over `maxBytes`, `overloaded` when the byte budget is used up, and the signal's reason when it aborts.
   */
  post(json: string, options: PostOptions): Promise<HttpResponse>;
  close(): Promise<void>;
}

export function openHttpTransport(node: NodeOptions, settings: UpstreamSettings, budget: ByteBudget): HttpTransport {
  const url = new URL(node.url);
  const path = url.pathname + url.search;
  const headers = { ...basicAuth(url), ...node.headers, 'content-type': 'application/json' };
  const pool = new Pool(url.origin, {
    connections: settings.connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: settings.timeoutMs },
    headersTimeout: 0, // both timers are coarse; the signal is the deadline
    bodyTimeout: 0,
  });

  return {
    post: (json, options) =>
      new Promise((resolve, reject) => {
        const request = { method: 'POST', path, headers, body: json } as const;
        pool.dispatch(request, responseReader(options, budget, resolve, reject));
      }),
    close: () => pool.destroy(),
  };
}

/** Returns the header that a browser sends for `http://user:password@host` (RFC 7617); none for a URL without both. */
export function basicAuth({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${decodeUri(username)}:${decodeUri(password)}`);
  return { authorization: `Basic ${credentials.toString('base64')}` };
}

/** The bytes of a response that are read in one turn of the event loop; the connection waits until the next one. */
const READ_EVERY_BYTES = 256 * 1024;
/** The bytes of which a shorter part counts there: a microsecond's work. */
const PART_COSTS_BYTES = 256;

/** Reads one response to its end, without the stream that undici would make of it. */
function responseReader(
  { signal, maxBytes, cost }: PostOptions,
  budget: ByteBudget,
  resolve: (response: HttpResponse) => void,
  reject: (reason: unknown) => void,
): Dispatcher.DispatchHandler {
  const parts = new ResponseParts();
  let status = 0;
  let retryAfter: string | undefined;
  let [length, bytesOfTurn] = [0, 0];
  let abort = (): void => {};
  const end = (): void => {
    signal.removeEventListener('abort', abort);
    budget.release(length, cost?.caller);
    length = 0;
  };
  const fail = (thrown: unknown): void => {
    end();
    if (signal.aborted) reject(signal.reason);
    else if (thrown instanceof GatewayError) reject(thrown);
    else if (status === 0) reject(noResponse(thrown));
    else reject(new GatewayError('upstream_error', 'a response broke off', { cause: connectionFault(thrown) }));
  };
  return {
    onRequestStart(controller) {
      signal.removeEventListener('abort', abort);
      abort = () => controller.abort(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    },
    onResponseStart(_, statusCode, { 'retry-after': seconds }) {
      status = statusCode;
      retryAfter = typeof seconds === 'string' ? seconds : undefined;
    },
    onResponseData(controller, chunk) {
      if (cost !== undefined) cost.bytes += chunk.length;
      try {
        if (length + chunk.length > maxBytes) throw tooLarge(maxBytes);
        budget.reserve(chunk.length, cost?.caller);
      } catch (refusal) {
        controller.abort(refusal as GatewayError); // no other error is thrown
        return;
      }
      length += chunk.length;
      parts.add(chunk);
      bytesOfTurn += Math.max(chunk.length, PART_COSTS_BYTES);
      if (bytesOfTurn < READ_EVERY_BYTES) return;
      bytesOfTurn = 0;
      controller.pause();
      void ownTurn().then(() => controller.resume());
    },
    onResponseEnd() {
      concatInTurns(parts.end())
        .then((body) => {
          end();
          resolve({ status, retryAfter, body });
        })
        .catch(fail);
    },
    onResponseError: (_, thrown) => fail(thrown),
  };
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError('result_too_large', `the node's response is longer than ${maxBytes} bytes: request less`);

function noResponse(thrown: unknown): GatewayError {
  const cause = connectionFault(thrown);
  return thrown instanceof errors.HTTPParserError // the server doesn't speak HTTP
    ? new GatewayError('upstream_error', 'a node sent no valid response', { cause })
    : new GatewayError('upstream_unavailable', 'no node can be reached', { cause });
}
