import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { ClientIp } from '../access/client-ip.ts';
import type { Limiter, Quota } from '../access/limiter.ts';
import { GatewayError } from '../domain/error.ts';
import { API_PREFIX, parseTarget } from '../domain/request.ts';
import type { Page } from '../page/page.ts';
import { isNonce } from '../receipt/statement.ts';
import type { Answers, Served } from '../routes/answers.ts';
import { pathArguments, queryArguments } from '../routes/arguments.ts';
import { type Match, matchRoute } from '../routes/match.ts';
import { parseMinSlot } from '../routes/min-slot.ts';
import type { Context, Route } from '../routes/route.ts';
import { readBody } from './body.ts';
import { framingFault, isChunked, isPlainGet } from './edge.ts';
import { coded, isCompressible } from './encoding.ts';
import { HitHead, headText, PREFLIGHT } from './head.ts';
import { HitHeads } from './hit-heads.ts';
import { type Owed, Reply } from './reply.ts';
import type { Sealer } from './seal.ts';
import { documentWire, errorWire, nowWire, pageWire, postedWire, servedWire, type Wire, type Wish } from './wire.ts';

export interface Deps {
  readonly answers: Answers;
  readonly context: Context;
  readonly sealer: Sealer;
  readonly limiter: Limiter;
  readonly clientIp: ClientIp;
  /** The longest request body, in bytes. */
  readonly bodyBytes: number;
  /** The API document, as JSON. */
  readonly document: string;
  /** The page at `/verify`. */
  readonly verifyPage: Page;
  readonly owed: Owed;
  /** Told of what is a defect: the caller sees only `internal_error`, and the id of the request. */
  readonly onDefect: (requestId: string, thrown: unknown) => void;
}

type Handler = (res: HttpResponse, req: HttpRequest) => void;

/** One handler for each method. None ever throws: the engine would abort the process. */
export interface Handlers {
  readonly get: Handler;
  readonly head: Handler;
  readonly post: Handler;
  readonly options: Handler;
  readonly other: Handler;
}

/** A request while its handler runs; the engine takes `req` back after that. */
interface Visit {
  readonly req: HttpRequest;
  readonly match: Match | undefined;
  readonly place: Place;
  readonly reply: Reply;
  readonly quota: Quota;
}

/** What may be at a path, and by which methods. */
type Place = Route['kind'] | 'document' | 'page' | 'stream' | undefined;

/** What is at a path that no route declares. */
const PLACES: Readonly<Record<string, Place>> = {
  [`${API_PREFIX}/stream`]: 'stream',
  [`${API_PREFIX}/openapi.json`]: 'document',
  '/verify': 'page',
};

/** For the headers of an answer to a request that could not even be counted. */
const NO_QUOTA: Quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

/** Headers that ask for what only the slow path knows of. */
const isSpecial = (req: HttpRequest): boolean => req.getHeader('x-receipt-nonce') !== '' || hasOther(req);

const hasOther = (req: HttpRequest): boolean =>
  req.getHeader('x-api-key') !== '' || req.getHeader('if-none-match') !== '' || req.getHeader('x-min-slot') !== '';

export function handlers(deps: Deps): Handlers {
  const { answers, context, sealer, limiter, clientIp, owed, onDefect } = deps;
  const { cache } = context;
  const hitHeads = new HitHeads();
  const boundHead = new HitHead([
    ['X-Cache', 'HIT'],
    ['Cache-Control', 'no-store'],
  ]);

  const get: Handler = (res, req) => {
    try {
      if (!hit(res, req)) slowGet(res, req);
    } catch (thrown) {
      new Reply(res, owed).send(errorWire(NO_QUOTA, thrown, onDefect));
    }
  };

  /** A plain hit is answered right here: no parsing, no promise, no JSON, no signature. False if it is none. */
  function hit(res: HttpResponse, req: HttpRequest): boolean {
    if (!isPlainGet(req) || context.isDraining() || clientIp.isPrefaced(res)) return false;
    if (isSpecial(req)) return hitForOne(res, req);
    const entry = cache.get(targetOf(req)); // a key in the cache was valid when it got there
    if (entry === undefined || !cache.isFresh(entry)) return false;
    const body = sealer.bodyOf(entry);
    if (body === undefined) return false;
    const quota = limiter.take(clientIp.of(res, req), 1);
    if (quota.allowed) {
      const accept = isCompressible(body) ? req.getHeader('accept-encoding') : '';
      const { coding, body: bytes } =
        accept === '' ? { coding: 'identity' as const, body } : coded(entry, body, accept);
      res.writeStatus(hitHeads.of(entry, coding).fill(quota, entry));
      res.end(bytes);
    } else new Reply(res, owed).send(errorWire(quota, tooMany(quota), onDefect));
    return true;
  }

  /** The same for a caller who sent a nonce and nothing else that is special: of his own is only the receipt. */
  function hitForOne(res: HttpResponse, req: HttpRequest): boolean {
    const nonce = req.getHeader('x-receipt-nonce');
    if (!isNonce(nonce) || hasOther(req)) return false;
    const entry = cache.get(targetOf(req));
    if (entry?.label.envelope !== 'signed' || entry.refusal !== undefined || !cache.isFresh(entry)) return false;
    const quota = { ...limiter.take(clientIp.of(res, req), 2) };
    const reply = new Reply(res, owed);
    const fail = (thrown: unknown): void => reply.send(errorWire(quota, thrown, onDefect));
    if (!quota.allowed) fail(tooMany(quota));
    else {
      sealer.sealFor(entry, nonce).then((body) => {
        reply.send({ head: boundHead.fill(quota, entry), body });
      }, fail);
    }
    return true;
  }

  const slowGet = guarded('get', ({ req, match, place, quota }) => {
    const nonce = parseNonce(req.getHeader('x-receipt-nonce'));
    if (nonce !== undefined && match?.route.envelope !== 'signed') throw unsigned();
    const wish = { nonce, ifNoneMatch: req.getHeader('if-none-match'), accept: req.getHeader('accept-encoding') };
    if (place === 'page') return pageWire(quota, deps.verifyPage, wish);
    if (match === undefined) return documentWire(quota, deps.document);
    const { route, inPath } = match;
    if (route.kind === 'post') return noRoute();
    const inPathArguments = pathArguments(route, inPath);
    const target = parseTarget(targetOf(req));
    const params = { ...inPathArguments, ...queryArguments(route, target) };
    if (route.kind === 'now') return nowWire(quota, route, params, context);
    const question = { route, params, key: target.canonical, minSlot: parseMinSlot(req.getHeader('x-min-slot')) };
    const served = answers.lookUp(question);
    return served === undefined
      ? upstreamWire(answers.resolve(question), quota, wish)
      : sealedWire(served, quota, wish);
  });

  async function upstreamWire(resolving: Promise<Served>, quota: Quota, wish: Wish): Promise<Wire> {
    const startedMs = context.clock.monotonic();
    const served = await resolving;
    return sealedWire(served, quota, wish, context.clock.monotonic() - startedMs);
  }

  /** At once when the body is at hand, else in this turn of the event loop. */
  function sealedWire(served: Served, quota: Quota, wish: Wish, upstreamMs?: number): Wire | Promise<Wire> {
    const { entry } = served;
    const wire = (body: string | Buffer): Wire => servedWire(quota, { ...served, body, upstreamMs }, wish);
    if (wish.nonce !== undefined) return sealer.sealFor(entry, wish.nonce).then(wire);
    const body = sealer.bodyOf(entry);
    return body === undefined ? sealer.seal(entry).then(wire) : wire(body);
  }

  const post = guarded('post', ({ req, match, reply, quota }) => {
    const route = match?.route;
    if (route?.kind !== 'post') return noRoute();
    const type = req.getHeader('content-type');
    if (!isJson(type)) throw new GatewayError('unsupported_media_type', 'the body must be application/json');
    return readBody(reply, route.maxBytes ?? deps.bodyBytes)
      .then((body) => route.resolve(route.parse(body), context))
      .then((posted) => postedWire(quota, route.envelope, posted));
  });

  const options = guarded('options', ({ place, quota }) => {
    const allow = allowed(place);
    return { head: headText(204, quota, [...PREFLIGHT, ['Allow', allow]]).text, body: null };
  });

  const other = guarded('other', () => noRoute());

  /** The one way in for all but plain hits: frames, counts, refuses; whatever is thrown becomes an error answer. */
  function guarded(method: keyof Handlers, answer: (visit: Visit) => Wire | Promise<Wire>): Handler {
    return (res, req) => {
      const isHead = method === 'get' && req.getMethod() === 'head';
      const reply = new Reply(res, owed, isHead);
      let quota = NO_QUOTA;
      let close = context.isDraining();
      const send = (wire: Wire): void => reply.send({ ...wire, close: close || context.isDraining() });
      const fail = (thrown: unknown): void => send(errorWire(quota, thrown, onDefect));
      try {
        const address = clientIp.of(res, req);
        const match = matchRoute(req.getUrl());
        const place = match?.route.kind ?? PLACES[req.getUrl()];
        quota = { ...limiter.peek(address) };
        const fault = framingFault(req, method === 'post');
        if (fault !== undefined) {
          close = true;
          // Answered later: the engine goes on to the next request in the packet after an answer made at once.
          setImmediate(() => fail(new GatewayError('invalid_request', fault)));
          return;
        }
        const isPrefaced = clientIp.isPrefaced(res);
        close ||= isPrefaced || isChunked(req);
        if (method !== 'options' && !isFree(match)) quota = { ...limiter.take(address, weightOf(req)) };
        if (!quota.allowed) throw tooMany(quota);
        if (method !== 'options') {
          checkMethod(method, place);
          checkCredentials(req);
          if (method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw unsigned();
        }
        const wire = answer({ req, match, place, reply, quota });
        if (wire instanceof Promise) wire.then(send, fail);
        else if (isPrefaced) setImmediate(() => send(wire));
        else send(wire);
      } catch (thrown) {
        close ||= method === 'post' || method === 'other'; // a body may follow, which nobody will read
        if (close) setImmediate(() => fail(thrown));
        else fail(thrown);
      }
    };
  }

  return { get, head: slowGet, post, options, other };
}

function targetOf(req: HttpRequest): string {
  const query = req.getQuery();
  return query ? `${req.getUrl()}?${query}` : req.getUrl();
}

/** A probe's requests count against nobody. */
const isFree = (match: Match | undefined): boolean => match?.route.kind === 'now' && !match.route.metered;

const allowed = (place: Place): string => {
  if (place === undefined) return 'GET, HEAD, POST, OPTIONS';
  return place === 'post' ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS';
};

function checkMethod(method: keyof Handlers, place: Place): void {
  if (place === undefined) noRoute();
  if (method === 'other' || (method === 'post') !== (place === 'post')) {
    const allow = allowed(place);
    throw new GatewayError('method_not_allowed', `this path takes ${allow}`, { allow });
  }
  if (place === 'stream') throw new GatewayError('upgrade_required', 'the stream is a WebSocket: ask for an upgrade');
}

function checkCredentials(req: HttpRequest): void {
  if (req.getHeader('x-api-key') !== '') throw new GatewayError('invalid_api_key', 'no such API key');
}

/** An answer that is signed for one caller alone costs more than one for all. */
const weightOf = (req: HttpRequest): number => (req.getHeader('x-receipt-nonce') === '' ? 1 : 2);

/** Reads the `X-Receipt-Nonce` header: what the caller wants to find in the receipt, so that it can't be an old one. */
function parseNonce(header: string): string | undefined {
  if (header === '') return undefined;
  if (isNonce(header)) return header;
  throw new GatewayError('invalid_nonce', 'X-Receipt-Nonce must be 16 to 64 letters, digits, "-" or "_"');
}

const unsigned = (): GatewayError =>
  new GatewayError('invalid_nonce', 'what is asked for carries no receipt, so there is nothing to bind to a nonce');

const isJson = (type: string): boolean => type === '' || /^application\/json\s*(;|$)/i.test(type);

const tooMany = ({ limit, retryAfter }: Quota): GatewayError =>
  new GatewayError('rate_limited', `more than ${limit} requests in the window`, { retryAfter });

function noRoute(): never {
  throw new GatewayError('route_not_found', 'no such route');
}
