import { request } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/gateway-error.ts';

export interface HttpGetOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Requests a text from a service other than a node. The errors contain neither the URL nor the response. */
export async function httpGetText(url: string, { clock, timeoutMs, maxBytes }: HttpGetOptions): Promise<string> {
  const deadline = new AbortController();
  const cancelTimeout = clock.after(timeoutMs, () => deadline.abort());
  try {
    const { statusCode, body } = await request(url, { signal: deadline.signal });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxBytes) throw new Error(`longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    if (deadline.signal.aborted) throw new GatewayError('upstream_timeout', 'the price service did not answer in time');
    throw new GatewayError('upstream_unavailable', 'the price service can not be reached', { cause });
  } finally {
    cancelTimeout();
  }
}
