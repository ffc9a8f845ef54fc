import { receiptTextIn } from '../../../client/verify/index.ts';
import type { Envelope } from '../../../shared/domain/envelope.ts';
import { GatewayError, type LastKnown } from '../../../shared/domain/gateway-error.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { BASE_UNITS, unitsOfBytes, unitsOfText } from '../../../shared/domain/units.ts';
import type { QuotaFigures } from '../../access/quota/quota-window.ts';
import { type Entry, etagOf, skippedSlotOf } from '../../cache/entry.ts';
import { jsonRpcError, jsonRpcFrame } from '../../routes/routing/json-rpc-form.ts';
import type { Caller, LocalRoute, ParamSet, Params, PostAnswer, RouteContext } from '../../routes/routing/route.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import { byteLengthOf, type RawBody, type RawResponse } from '../engine/raw-response.ts';
import { bodyFor } from './content-coding.ts';
import { formatHeaders, type Header, MissHeaders, matchesEtag, weakEtag } from './response-headers.ts';

/** Who pays for a response. */
export interface Payer {
  /** Charges what the request cost in all, and these units for its answer. Returns the quota after that. */
  charge(ofAnswer: number): QuotaFigures;
}

/** Returns the `Cache-Control` of an entry: final answers may be cached as their route says, any other is revalidated. */
export function cacheControlOf({ final, meta: { finalFor } }: Entry): string {
  if (!final || finalFor === undefined) return 'no-cache';
  return finalFor === 'immutable' ? 'public, max-age=31536000, immutable' : `public, max-age=${finalFor.seconds}`;
}

/** The request headers that change the response to a GET. */
export interface Conditions {
  /** The caller's nonce: the answer is then signed for this caller alone. */
  readonly nonce: string | null;
  readonly ifNoneMatch: string;
  readonly accept: string;
}

export interface SealedRead extends CachedRead {
  readonly body: string | Buffer;
  readonly upstreamMs?: number | undefined;
}

const missHeaders = new MissHeaders();

export function cachedReadResponse(
  payer: Payer,
  { entry, cacheStatus, body: identityBody, upstreamMs }: SealedRead,
  conditions: Conditions,
): RawResponse {
  const { nonce, ifNoneMatch, accept } = conditions;
  const skippedSlot = skippedSlotOf(entry);
  const isUsualMiss = cacheStatus === 'MISS' && !entry.final && nonce === null && ifNoneMatch === '';
  if (isUsualMiss && skippedSlot === undefined && upstreamMs !== undefined) {
    const { coding, body } = bodyFor(entry, identityBody, accept, false);
    if (coding === 'identity')
      return { headers: missHeaders.fill(payer.charge(entry.units - BASE_UNITS), entry, upstreamMs), body };
  }
  const extraHeaders: Header[] = [
    ['X-Slot', String(entry.slot)],
    ['X-Cache', cacheStatus],
    ['Cache-Control', nonce === null ? cacheControlOf(entry) : 'no-store'],
  ];
  if (skippedSlot !== undefined) extraHeaders.push(['X-Skipped', String(skippedSlot)]);
  const etag = etagOf(entry);
  if (etag !== '') extraHeaders.push(['ETag', weakEtag(etag)]);
  if (cacheStatus === 'MISS' && upstreamMs !== undefined)
    extraHeaders.push(['Server-Timing', `upstream;dur=${upstreamMs.toFixed(1)}`]);
  if (matchesEtag(ifNoneMatch, etag)) {
    extraHeaders.push(['X-Receipt', receiptTextIn(identityBody)]); // the caller has the result that this receipt is about
    return { headers: formatHeaders(304, payer.charge(0), extraHeaders).text, body: null };
  }
  const { coding, body } = bodyFor(entry, identityBody, accept, nonce !== null);
  if (coding !== 'identity') extraHeaders.push(['Content-Encoding', coding]);
  const answerUnits = entry.units - BASE_UNITS;
  return { headers: formatHeaders(200, payer.charge(answerUnits), extraHeaders).text, body };
}

export function localResponse(
  payer: Payer,
  route: LocalRoute,
  params: Params<ParamSet>,
  context: RouteContext,
  caller: Caller,
): RawResponse {
  const json = toJson(route.answer(params, context, caller));
  const extraHeaders: Header[] = [
    ['X-Cache', 'BYPASS'],
    ['Cache-Control', route.cacheControl],
  ];
  const headerValue = route.header?.valueOf(params, context);
  if (route.header !== undefined && headerValue !== undefined) extraHeaders.push([route.header.name, headerValue]);
  return {
    headers: formatHeaders(200, payer.charge(unitsOfText(json)), extraHeaders).text,
    body: route.envelope === 'bare' ? `{"result":${json}}` : json,
  };
}

export function postResponse(payer: Payer, envelope: Envelope, answer: PostAnswer): RawResponse {
  const { slot, cacheStatus } = answer;
  const extraHeaders: Header[] = [
    ['X-Cache', cacheStatus],
    ['Cache-Control', 'no-store'],
  ];
  if (slot !== undefined) extraHeaders.push(['X-Slot', String(slot)]);
  const { result, batch } = answer;
  const sent = batch ?? result;
  const quota = payer.charge(typeof sent === 'string' ? unitsOfText(sent) : unitsOfBytes(byteLengthOf(sent)));
  const headers = formatHeaders(200, quota, extraHeaders).text;
  return { headers, body: postBody(envelope, answer) };
}

function postBody(envelope: Envelope, { result, jsonRpcId, batch }: PostAnswer): RawBody {
  if (batch !== undefined) return batch;
  if (envelope === 'plain') return result;
  const [before, after] = jsonRpcId === undefined ? ['{"result":', '}'] : jsonRpcFrame(jsonRpcId);
  return typeof result === 'string' ? before + result + after : [Buffer.from(before), result, Buffer.from(after)];
}

/** More segments than any path of ours has: from below them nothing is relative, so that a header stays short. */
const MAX_DEPTH = 8;

/** Returns the relative way from a request target to the root of the gateway; undefined from one too deep to be ours. */
export function rootOf(target: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  const depth = path.split('/', MAX_DEPTH + 3).length - 2;
  if (depth < 0 || depth > MAX_DEPTH) return undefined;
  return depth === 0 ? './' : '../'.repeat(depth);
}

export interface ErrorResponseOptions {
  /** Whether the gateway serves the page that describes errors. */
  readonly hasPages: boolean;
  /** Called with the cause of an `internal_error`, which the caller never sees. */
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** Creates the response to an error, with a link from the requested path to what is written about it. */
export function errorResponse(
  quota: QuotaFigures,
  thrown: unknown,
  { hasPages, onInternalError }: ErrorResponseOptions,
  path = '',
): RawResponse {
  let error = GatewayError.from(thrown);
  const extraHeaders: Header[] = [['Cache-Control', 'no-store']];
  if (hasPages) extraHeaders.push(['Link', `<${rootOf(path) ?? '/'}docs/errors#error-${error.code}>; rel="help"`]);
  if (error.retryAfter !== undefined) extraHeaders.push(['Retry-After', String(error.retryAfter)]);
  if (error.allow !== undefined) extraHeaders.push(['Allow', error.allow]);
  if (error.oldestSlot !== undefined) extraHeaders.push(['X-Oldest-Slot', String(error.oldestSlot)]);
  if (error.rpcCode !== undefined) extraHeaders.push(['X-Rpc-Error-Code', String(error.rpcCode)]);
  if (error.lastKnown !== undefined) extraHeaders.push(...lastKnownHeaders(error.lastKnown));
  if (error.code === 'upgrade_required') extraHeaders.push(['Upgrade', 'websocket'], ['Sec-WebSocket-Version', '13']);
  const { jsonRpcId } = error;
  const isPlain = jsonRpcId === undefined;
  const { text, requestId } = formatHeaders(isPlain ? error.status : 200, quota, extraHeaders);
  if (error.code === 'internal_error') {
    onInternalError(requestId, error.cause ?? error);
    error = new GatewayError('internal_error', `${error.message}; the gateway's log has its cause as ${requestId}`);
  }
  return { headers: text, body: isPlain ? JSON.stringify(error) : jsonRpcError(jsonRpcId, error) };
}

function lastKnownHeaders({ cluster, slot, slotAgeMs }: LastKnown): readonly Header[] {
  const ofCluster: readonly Header[] = cluster === undefined ? [] : [['X-Cluster', cluster]];
  if (slot === 0) return ofCluster;
  return [...ofCluster, ['X-Slot', String(slot)], ['X-Slot-Age', String(Math.round(slotAgeMs / 1000))]];
}
