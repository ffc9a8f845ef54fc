import { errors, Pool } from 'undici';
import { concatInTurns } from '../../domain/concat-in-turns.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { ownTurn } from '../../domain/own-turn.ts';
import type { RequestCost } from '../../domain/request-cost.ts';
import type { ByteBudget } from '../failsafe/byte-budget.ts';
import type { NodeOptions, UpstreamSettings } from '../upstream-options.ts';
import { connectionFault } from './failure-reason.ts';

/** HTTP response, read to its end. */
export interface HttpResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** Longest response. */
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
    async post(json, { signal, maxBytes, cost }) {
      const request = pool.request({ method: 'POST', path, headers, body: json, signal });
      const response = await request.catch((thrown: unknown) => {
        throw signal.aborted ? signal.reason : noResponse(thrown);
      });
      const retryAfter = response.headers['retry-after'];
      try {
        return {
          status: response.statusCode,
          retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
          body: await readAll(response.body, { maxBytes, cost, budget }),
        };
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        if (thrown instanceof GatewayError) throw thrown;
        throw new GatewayError('upstream_error', 'a response broke off', { cause: connectionFault(thrown) });
      }
    },
    close: () => pool.destroy(),
  };
}

/** Builds the header that a browser sends for `http://user:password@host` (RFC 7617). */
function basicAuth({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { authorization: `Basic ${credentials.toString('base64')}` };
}

/** The bytes of a response that are read in one turn of the event loop; the connection waits until the next one. */
const READ_EVERY_BYTES = 256 * 1024;

interface ReadOptions extends Pick<PostOptions, 'maxBytes' | 'cost'> {
  readonly budget: ByteBudget;
}

async function readAll(stream: AsyncIterable<Buffer>, { maxBytes, cost, budget }: ReadOptions): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  let bytesOfTurn = 0;
  try {
    for await (const chunk of stream) {
      if (cost !== undefined) cost.bytes += chunk.length;
      if (length + chunk.length > maxBytes)
        throw new GatewayError(
          'result_too_large',
          `the node's response is longer than ${maxBytes} bytes: ask for less`,
        );
      budget.reserve(chunk.length, cost?.caller);
      length += chunk.length;
      chunks.push(chunk);
      bytesOfTurn += chunk.length;
      if (bytesOfTurn < READ_EVERY_BYTES) continue;
      bytesOfTurn = 0;
      await ownTurn();
    }
    return await concatInTurns(chunks);
  } finally {
    budget.release(length, cost?.caller);
  }
}

function noResponse(thrown: unknown): GatewayError {
  const cause = connectionFault(thrown);
  return thrown instanceof errors.HTTPParserError // the server doesn't speak HTTP
    ? new GatewayError('upstream_error', 'a node sent no valid response', { cause })
    : new GatewayError('upstream_unavailable', 'no node can be reached', { cause });
}
