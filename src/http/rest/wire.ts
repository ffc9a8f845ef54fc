import type { Quota } from '../../access/limits/rate-limiter.ts';
import type { Entry } from '../../cache/entry.ts';
import type { Envelope } from '../../domain/envelope.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { toJson } from '../../domain/to-json.ts';
import type { Page } from '../../page/page.ts';
import { receiptTextIn } from '../../receipts/signed-body.ts';
import type { Context, Now, ParamSet, Params, Posted } from '../../routing/route.ts';
import type { Served } from '../../serving/answers.ts';
import { bestCoding, coded } from './encoding.ts';
import { etagOf, type Header, headText } from './head.ts';

/** A response as it goes on the wire. */
export interface Wire {
  /** Status line and headers, without the first `HTTP/1.1`. */
  readonly head: string | Buffer;
  /** Null for a status that has none. */
  readonly body: string | Buffer | null;
  /** Close the connection behind it: what follows on it can't be trusted, or the process is going. */
  readonly close?: boolean;
}

/** How long a body may be kept by others. */
export const cacheControlOf = ({ final, meta }: Entry): string =>
  final && meta.immutable === true ? 'public, max-age=31536000, immutable' : 'no-cache';

/** What is asked of an answer that is no plain hit. */
export interface Wish {
  /** What the caller sent to have the answer signed for himself alone. */
  readonly nonce: string | undefined;
  readonly ifNoneMatch: string;
  readonly accept: string;
}

/** An answer with the body that it goes out with. */
export interface Sealed extends Served {
  readonly body: string | Buffer;
  /** How long the upstream took. */
  readonly upstreamMs?: number | undefined;
}

/** A read's answer. A plain hit's head is prebuilt; this one is for all others. */
export function servedWire(quota: Quota, { entry, source, body: plain, upstreamMs }: Sealed, wish: Wish): Wire {
  const extra: Header[] = [
    ['X-Slot', String(entry.slot)],
    ['X-Cache', source],
    ['Cache-Control', wish.nonce === undefined ? cacheControlOf(entry) : 'no-store'],
  ];
  if (entry.etag !== '') extra.push(['ETag', etagOf(entry.etag)]);
  if (source === 'MISS' && upstreamMs !== undefined)
    extra.push(['Server-Timing', `upstream;dur=${upstreamMs.toFixed(1)}`]);
  if (isNamed(wish.ifNoneMatch, entry.etag)) {
    extra.push(['X-Receipt', receiptTextIn(plain)]); // who has the result has all that it proves
    return { head: headText(304, quota, extra).text, body: null };
  }
  // Nobody else gets a body with a nonce, so nothing is won by keeping it compressed.
  const { coding, body } =
    wish.nonce === undefined ? coded(entry, plain, wish.accept) : { coding: 'identity', body: plain };
  if (coding !== 'identity') extra.push(['Content-Encoding', coding]);
  return { head: headText(200, quota, extra).text, body };
}

/** True when the caller has this very result. Weak comparison: RFC 9110 13.1.2. */
function isNamed(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '' || etag === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${etag}"`);
}

export function nowWire(quota: Quota, route: Now, params: Params<ParamSet>, context: Context): Wire {
  const json = toJson(route.answer(params, context));
  const extra: Header[] = [
    ['X-Cache', 'BYPASS'],
    ['Cache-Control', route.cacheControl],
  ];
  const own = route.header?.valueOf(params, context);
  if (route.header !== undefined && own !== undefined) extra.push([route.header.name, own]);
  return { head: headText(200, quota, extra).text, body: route.envelope === 'bare' ? `{"result":${json}}` : json };
}

export function postedWire(quota: Quota, envelope: Envelope, { result, slot, cache }: Posted): Wire {
  const extra: Header[] = [
    ['X-Cache', cache],
    ['Cache-Control', 'no-store'],
  ];
  if (slot !== undefined) extra.push(['X-Slot', String(slot)]);
  return { head: headText(200, quota, extra).text, body: envelope === 'plain' ? result : inResult(result) };
}

const inResult = (result: string | Buffer): string | Buffer =>
  typeof result === 'string'
    ? `{"result":${result}}`
    : Buffer.concat([Buffer.from('{"result":'), result, Buffer.from('}')]);

export function documentWire(quota: Quota, document: string): Wire {
  return { head: headText(200, quota, [['Cache-Control', 'public, max-age=300']]).text, body: document };
}

/** A page for people. It may load nothing and be in no frame. */
export function pageWire(quota: Quota, page: Page, wish: Wish): Wire {
  const coding = bestCoding(wish.accept);
  const extra: Header[] = [
    ['Cache-Control', 'no-cache'],
    ['ETag', etagOf(page.etag)],
    ['Content-Security-Policy', page.policy],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  if (isNamed(wish.ifNoneMatch, page.etag)) return { head: headText(304, quota, extra, HTML).text, body: null };
  if (coding !== 'identity') extra.push(['Content-Encoding', coding]);
  return { head: headText(200, quota, extra, HTML).text, body: page[coding] };
}

const HTML = 'text/html; charset=utf-8';

/** `onDefect` is told of what the caller may not see. */
export function errorWire(quota: Quota, thrown: unknown, onDefect: (requestId: string, thrown: unknown) => void): Wire {
  const error = GatewayError.from(thrown);
  const extra: Header[] = [['Cache-Control', 'no-store']];
  if (error.retryAfter !== undefined) extra.push(['Retry-After', String(error.retryAfter)]);
  if (error.allow !== undefined) extra.push(['Allow', error.allow]);
  if (error.rpcCode !== undefined) extra.push(['X-Rpc-Error-Code', String(error.rpcCode)]);
  if (error.code === 'upgrade_required') extra.push(['Upgrade', 'websocket'], ['Sec-WebSocket-Version', '13']);
  const { text, requestId } = headText(error.status, quota, extra);
  if (error.code === 'internal_error') onDefect(requestId, error.cause ?? error);
  return { head: text, body: JSON.stringify(error) };
}

/** What a caller hears who has spent his window. */
export const windowSpent = ({ limit, retryAfter }: Quota): GatewayError =>
  new GatewayError('rate_limited', `more than ${limit} requests in the window`, { retryAfter });
