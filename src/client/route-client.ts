import { toJson } from '../domain/to-json.ts';
import { formatSignedBody, resultTextIn } from '../receipts/signed-body.ts';
import { ReceiptError } from '../receipts/verify/receipt-error.ts';
import { newNonce } from './nonce.ts';
import type { Answer, Read, ReadArguments, ReadOptions } from './read-types.ts';
import { buildRequestTarget, type TargetParameters } from './request-target.ts';
import { finalityCheck, unsignedEnvelope, unwrap } from './response-envelope.ts';
import type { Body, Path, PostPath, Result } from './route-types.ts';
import type { GatewayResponse, RequestOptions, SendRequest } from './send-request.ts';
import type { VerifyAnswer } from './verify-answer.ts';

/** Reads of every route, typed by their declarations. */
export interface RouteClient {
  /** `get('/balance/:addr', { addr })`. Throws SlotgateError, and ReceiptError for an answer that isn't proven. */
  get<P extends Path>(path: P, ...rest: ReadArguments<P>): Promise<Answer<P>>;
  /** `post('/rpc', { method: 'getSlot' })`. Throws SlotgateError. */
  post<P extends PostPath>(path: P, body: Body<P>, patience?: RequestOptions): Promise<{ readonly result: Result<P> }>;
}

export function createRouteClient(send: SendRequest, verifyAnswer: VerifyAnswer): RouteClient {
  async function get(path: string, params: TargetParameters = {}, options: ReadOptions = {}): Promise<unknown> {
    const { minSlot, nonce: nonceOption = false, since } = options;
    const target = buildRequestTarget(path, params);
    const nonce = nonceOption === true ? newNonce() : nonceOption || null;
    const headers = {
      ...(minSlot !== undefined && { 'x-min-slot': String(minSlot) }),
      ...(nonce !== null && { 'x-receipt-nonce': nonce }),
      ...(since?.etag && { 'if-none-match': since.etag }),
    };
    const response = await send({ target, headers }, options);
    const envelope = unsignedEnvelope(path);
    if (envelope !== undefined) return unwrap(response, envelope);
    const unchanged = response.status === 304;
    const verified = await verifyAnswer(unchanged ? bodyOfNotModified(response, since) : response.body, {
      request: `GET ${target}`,
      nonce,
      minSlot,
      isFinal: finalityCheck(path),
    });
    return { ...verified, unchanged, etag: response.headers.get('etag') };
  }

  async function post(path: string, body: unknown, options: RequestOptions = {}): Promise<unknown> {
    const response = await send({ target: buildRequestTarget(path, {}), body: toJson(body) }, options);
    return unwrap(response, unsignedEnvelope(path) ?? 'bare');
  }

  // What a path takes and answers is the word of its declaration, which is there for the compiler only.
  return { get: get as RouteClient['get'], post: post as RouteClient['post'] };
}

/** The body that a 200 would have had now: the old result under the new receipt. */
function bodyOfNotModified({ headers }: GatewayResponse, since: Read<unknown> | undefined): string {
  const receipt = headers.get('x-receipt');
  const slot = headers.get('x-slot');
  const result = since && resultTextIn(since.body, since.slot);
  if (result === undefined || receipt === null || slot === null) throw new ReceiptError('envelope');
  return formatSignedBody(result, Number(slot), receipt);
}
