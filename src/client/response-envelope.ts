import type { Envelope } from '../shared/domain/envelope.ts';
import { parseExactJson } from '../shared/domain/parse-exact-json.ts';
import type { EnvelopeOf, Path, PostPath, Result, SignedPath } from './route-types.ts';
import type { GatewayResponse } from './send-request.ts';
import { SlotgateError } from './slotgate-error.ts';

type UnsignedPath = Exclude<Path, SignedPath> | PostPath;

/** The compiler keeps the list complete: every other path's answer must have a valid receipt, whatever is sent. */
const UNSIGNED_ENVELOPES: { readonly [P in UnsignedPath]: EnvelopeOf<P> } = {
  '/network': 'anchored',
  '/health': 'bare',
  '/pubkey': 'plain',
  '/rpc': 'bare',
  '/explain': 'plain',
};

/** Checks for results that can never change again, whose receipts may have any age. A gateway may sign what is no object. */
const FINALITY_CHECKS: { readonly [P in SignedPath]?: (result: Result<P>) => boolean } = {
  '/block/:slot': (result) => result?.commitment === 'finalized',
  '/tx/:sig': (result) => result?.confirmationStatus === 'finalized',
};

/** Returns the envelope of a path without receipts; undefined for a path that must have one. */
export const unsignedEnvelope = (path: string): Envelope | undefined =>
  Object.hasOwn(UNSIGNED_ENVELOPES, path) ? UNSIGNED_ENVELOPES[path as UnsignedPath] : undefined; // it was just found there

/** Returns the check whether a result of the path can never change again; undefined if all can. */
export const finalityCheck = (path: string): ((result: never) => boolean) | undefined =>
  Object.hasOwn(FINALITY_CHECKS, path) ? FINALITY_CHECKS[path as SignedPath] : undefined; // it was just found there

/** Parses an answer without a receipt, and returns it with its result as `result`. */
export function unwrap({ body, status }: GatewayResponse, envelope: Envelope): unknown {
  let value: unknown;
  try {
    value = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new SlotgateError('unreadable', 'the answer is not JSON', { status, cause });
  }
  if (envelope === 'plain') return { result: value };
  if (Object(value) !== value) throw new SlotgateError('unreadable', 'the answer is not an object', { status });
  return value;
}
