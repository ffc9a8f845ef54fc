import { type IncomingMessage, type RequestOptions, request } from 'node:http';

export interface CostlyRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** From `/api/v1` on. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface CostlyResponse {
  readonly status: number;
  readonly remaining: number;
  /** The first bytes of the body. */
  readonly text: string;
}

const EXCERPT_BYTES = 300;

/** Sends a request on a connection of its own from a local address. */
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
      let text = '';
      response.on('data', (chunk: Buffer) => {
        if (text.length < EXCERPT_BYTES) text += chunk.toString('latin1', 0, EXCERPT_BYTES);
      });
      const { statusCode = 0, headers } = response;
      const remaining = Number(headers['x-ratelimit-remaining'] ?? Number.NaN);
      response.on('end', () => resolve({ status: statusCode, remaining, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
