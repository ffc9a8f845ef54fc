import type { Signer } from '../../../src/receipts/signer.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers } from '../../support/receipts/sealed-answers.ts';

/** One request that came, and how it is to be answered. */
export interface ReceivedRequest {
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly method: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

export type RequestScript = (request: ReceivedRequest, count: number) => Response | Promise<Response>;

/** Stands in for the network: each request is answered by the script, which is told how many came before. */
export function scriptedFetch(script: RequestScript): {
  readonly fetch: typeof fetch;
  readonly came: ReceivedRequest[];
} {
  const came: ReceivedRequest[] = [];
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
    came.push(request);
    return Promise.race([script(request, came.length - 1), gone]);
  };
  return { fetch: answer, came };
}

/** How an answer is signed. */
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

/** A signed body for a target, as a gateway would send it. */
export function signedBodyFor(target: string, result: string, signing: SigningOptions = {}): string {
  const { signer: by = signer, request = `GET ${target}`, slot = 10, nowMs = NOW_MS, nonce = null } = signing;
  const [body = ''] = sealAnswers(
    by,
    [{ request, slot, commitment: 'confirmed', claim: 'observed', nonce, result }],
    nowMs,
  );
  return body;
}

/** An error as the gateway says it. */
export const errorResponse = (
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ error, message: `it is ${error}` }, { status, headers });
