import type { Signer } from '../../../src/gateway/receipts/signer.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../support/receipts/sealed-answers.ts';

/** A request of the client. */
export interface ReceivedRequest {
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly method: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

export type RequestScript = (request: ReceivedRequest, count: number) => Response | Promise<Response>;

/** Replaces the network: the script answers each request; it gets the number of requests before. */
export function scriptedFetch(script: RequestScript): {
  readonly fetch: typeof fetch;
  readonly requests: ReceivedRequest[];
} {
  const requests: ReceivedRequest[] = [];
  const answer = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const { pathname, search } = new URL(String(input));
    const { method = 'GET', body, signal } = init;
    const request: ReceivedRequest = {
      target: pathname + search,
      headers: new Headers(init.headers),
      method,
      body: String(body ?? ''),
      signal: signal ?? new AbortController().signal,
    };
    const gone = new Promise<never>((_, reject) => {
      request.signal.addEventListener('abort', () => reject(request.signal.reason));
    });
    requests.push(request);
    return Promise.race([script(request, requests.length - 1), gone]);
  };
  return { fetch: answer, requests };
}

/** The values that an answer is signed with. */
export interface SigningOptions {
  readonly signer?: Signer;
  readonly request?: string;
  readonly slot?: number;
  readonly nowMs?: number;
  readonly nonce?: string | null;
}

/** The signer of most tests. */
export const signer = newSigner();
export { CLUSTER, NOW_MS, newSigner };

/** Returns a signed body for a target, as a gateway would send it. */
export function signedBodyFor(target: string, result: string, options: SigningOptions = {}): string {
  const { signer: by = signer, request = `GET ${target}`, slot = 10, nowMs = NOW_MS, nonce = null } = options;
  const [body = ''] = sealAnswers(
    by,
    [{ request, slot, commitment: 'confirmed', claim: 'observed', nonce, result }],
    nowMs,
  );
  return body;
}

/** Returns an error response of the gateway. */
export const errorResponse = (
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ error, message: `it is ${error}` }, { status, headers });
