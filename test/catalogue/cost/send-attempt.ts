import type { RequestOptions } from 'node:http';
import { type IncomingMessage, request } from 'node:http';

/** A request of an attempt. */
export interface CostlyRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** From `/api/v1` on. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back. */
export interface CostlyResponse {
  readonly status: number;
  readonly remaining: number;
  readonly limit: number;
  /** Bytes of the body as sent. */
  readonly bytes: number;
  /** The first bytes of the body. */
  readonly text: string;
}

const EXCERPT_BYTES = 300;

/** Sends a request on a connection of its own from a local address, and counts the body's bytes. */
export function sendRequest(
  url: string,
  { method = 'GET', target, headers = {}, body }: CostlyRequest,
  localAddress: string,
  signal?: AbortSignal,
): Promise<CostlyResponse> {
  const options: RequestOptions = {
    method,
    localAddress,
    agent: false,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(signal !== undefined && { signal }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(`/api/v1${target}`, url), options, (response: IncomingMessage) => {
      let bytes = 0;
      let text = '';
      response.on('data', (chunk: Buffer) => {
        if (bytes < EXCERPT_BYTES) text += chunk.toString('latin1', 0, EXCERPT_BYTES);
        bytes += chunk.length;
      });
      const { statusCode = 0, headers } = response;
      const quota = (name: string): number => Number(headers[`x-ratelimit-${name}`] ?? Number.NaN);
      response.on('end', () =>
        resolve({ status: statusCode, remaining: quota('remaining'), limit: quota('limit'), bytes, text }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
