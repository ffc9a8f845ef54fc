import { request } from 'undici';
import type { Clock } from '../../shared/domain/clock.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { RequestCost } from '../../shared/domain/units.ts';
import { rateLimitPauseSeconds } from '../upstream/failsafe/rate-limit-pause.ts';

export interface HttpGetOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What it requests counts for `cost`. */
export type GetBytes = (url: string, cost: RequestCost | undefined) => Promise<Buffer>;

/** Requests bytes from a service other than a node. The errors contain neither the URL, a header nor the response. */
export async function httpGet(url: string, { clock, timeoutMs, maxBytes, headers }: HttpGetOptions): Promise<Buffer> {
  let retryAfter: number | undefined;
  const deadline = new AbortController();
  const cancelTimeout = clock.after(timeoutMs, () => deadline.abort());
  try {
    const { statusCode, headers: fields, body } = await request(url, { signal: deadline.signal, headers });
    const seconds = fields['retry-after'];
    if (typeof seconds === 'string') retryAfter = rateLimitPauseSeconds(seconds, clock.now());
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxBytes) throw new Error(`longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return Buffer.concat(chunks);
  } catch (cause) {
    if (deadline.signal.aborted) throw new GatewayError('upstream_timeout', 'the price service did not answer in time');
    throw new GatewayError('upstream_unavailable', 'the price service cannot be reached', { cause, retryAfter });
  } finally {
    cancelTimeout();
  }
}
