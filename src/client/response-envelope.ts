import type { Envelope } from '../domain/envelope.ts';
import { parseExactJson } from '../domain/parse-exact-json.ts';
import type { EnvelopeOf, Path, PostPath, Result, SignedPath } from './route-types.ts';
import type { GatewayResponse } from './send-request.ts';
import { SlotgateError } from './slotgate-error.ts';

type UnsignedPath = Exclude<Path, SignedPath> | PostPath;

/**
 * The paths without receipts. The compiler keeps the list whole and true: every other path is held to its proof, and
 * no gateway can talk a client out of that.
 */
const UNSIGNED_ENVELOPES: { readonly [P in UnsignedPath]: EnvelopeOf<P> } = {
  '/network': 'anchored',
  '/health': 'bare',
  '/pubkey': 'plain',
  '/rpc': 'bare',
  '/explain': 'plain',
};

/** Results that can never change any more. Their receipts stand for good. */
const FINALITY_CHECKS: { readonly [P in SignedPath]?: (result: Result<P>) => boolean } = {
  '/block/:slot': ({ commitment }) => commitment === 'finalized',
  '/tx/:sig': ({ confirmationStatus }) => confirmationStatus === 'finalized',
};

/** The dress of an answer that proves nothing; undefined where there has to be a proof. */
export const unsignedEnvelope = (path: string): Envelope | undefined =>
  Object.hasOwn(UNSIGNED_ENVELOPES, path) ? UNSIGNED_ENVELOPES[path as UnsignedPath] : undefined; // it was just found there

/** Tells, for the results of a path, which can never change any more; undefined where all can. */
export const finalityCheck = (path: string): ((result: never) => boolean) | undefined =>
  Object.hasOwn(FINALITY_CHECKS, path) ? FINALITY_CHECKS[path as SignedPath] : undefined; // it was just found there

/** An answer that proves nothing, with its result where all others have it. */
export function unwrap({ body, status }: GatewayResponse, envelope: Envelope): unknown {
  try {
    const value = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return envelope === 'plain' ? { result: value } : value;
  } catch (cause) {
    throw new SlotgateError('unreadable', 'the answer is no JSON', { status, cause });
  }
}
