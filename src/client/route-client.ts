import type { Slot } from '../shared/domain/slot.ts';
import { toJson } from '../shared/domain/to-json.ts';
import { newNonce } from './nonce.ts';
import type { Answer, PostOptions, Read, ReadArguments, ReadOptions } from './read-types.ts';
import { buildRequestTarget, type TargetParameters } from './request-target.ts';
import { finalityCheck, unsignedEnvelope, unwrap } from './response-envelope.ts';
import type { Body, Path, PostPath, Result } from './route-types.ts';
import type { GatewayResponse, SendRequest } from './send-request.ts';
import { ReceiptError } from './verify/receipt-error.ts';
import { formatSignedBody, resultTextIn } from './verify/signed-body.ts';
import type { VerifyAnswer } from './verify-answer.ts';

export interface RouteClient {
  /** Reads a route: `get('/balance/:addr', { addr })`. Rejects with SlotgateError, or ReceiptError if verification fails. */
  get<P extends Path>(path: P, ...rest: ReadArguments<P>): Promise<Answer<P>>;
  /** Posts to a route: `post('/rpc', { method: 'getSlot' })`. Rejects with SlotgateError. */
  post<P extends PostPath>(path: P, body: Body<P>, options?: PostOptions<P>): Promise<{ readonly result: Result<P> }>;
}

// Parameters and results are typed by the declarations, which exist at compile time only.

export function createGet(send: SendRequest, verifyAnswer: VerifyAnswer): RouteClient['get'] {
  async function get(path: string, params: TargetParameters = {}, options: ReadOptions = {}): Promise<unknown> {
    const { minSlot, agree, nonce: nonceOption = false, since } = options;
    const target = buildRequestTarget(path, params);
    const nonce = nonceOption === true ? newNonce() : nonceOption === false ? null : nonceOption;
    const headers = {
      ...minSlotHeader(minSlot),
      ...(agree !== undefined && { 'x-agree': String(agree) }),
      ...(nonce !== null && { 'x-receipt-nonce': nonce }),
      ...(since?.etag && { 'if-none-match': since.etag }),
    };
    const response = await send({ target, headers }, options);
    const envelope = unsignedEnvelope(path);
    if (envelope !== undefined) return unwrap(response, envelope);
    const body = response.status === 304 ? bodyOfNotModified(response, since) : response.body;
    const expected = { request: `GET ${target}`, nonce, minSlot, agree, isFinal: finalityCheck(path) };
    const verified = await verifyAnswer(body, expected, options);
    // A receipt of an older slot proves what was, not that it still holds.
    const unchanged = response.status === 304 && verified.slot >= (since?.slot ?? 0);
    return { ...verified, unchanged, etag: response.headers.get('etag') };
  }

  return get as RouteClient['get'];
}

export function createPost(send: SendRequest): RouteClient['post'] {
  async function post(path: string, body: unknown, options: PostOptions<'/rpc'> = {}): Promise<unknown> {
    const request = {
      target: buildRequestTarget(path, {}),
      headers: minSlotHeader(options.minSlot),
      body: toJson(body),
    };
    const response = await send(request, options);
    return unwrap(response, unsignedEnvelope(path) ?? 'bare');
  }

  return post as RouteClient['post'];
}

const minSlotHeader = (minSlot: Slot | undefined): Readonly<Record<string, string>> =>
  minSlot === undefined ? {} : { 'x-min-slot': String(minSlot) };

/** Returns the body that a 200 would have had: the earlier result with the new receipt. */
function bodyOfNotModified({ headers }: GatewayResponse, since: Read<unknown> | undefined): string {
  const receipt = headers.get('x-receipt');
  const slot = headers.get('x-slot');
  const result = since && resultTextIn(since.body, since.slot);
  if (result === undefined || receipt === null || slot === null) throw new ReceiptError('envelope');
  return formatSignedBody(result, Number(slot), receipt);
}
