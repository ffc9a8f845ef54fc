import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { Quota } from '../../access/limits/rate-limiter.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { parseTarget } from '../../domain/canonical-request.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Page } from '../../page/page.ts';
import { isNonce } from '../../receipts/statement.ts';
import { pathArguments, queryArguments } from '../../routing/arguments.ts';
import { type Match, matchRoute } from '../../routing/match.ts';
import type { Admit } from '../../routing/route.ts';
import type { Answers, Question, Served } from '../../serving/answers.ts';
import { parseMinSlot } from '../../serving/min-slot.ts';
import { readBody } from '../engine/body.ts';
import { framingFault, isLast, targetOf } from '../engine/edge.ts';
import { Reply } from '../engine/reply.ts';
import { headText, PREFLIGHT } from './head.ts';
import { type HitDeps, hits } from './hits.ts';
import { allowed, checkMethod, isFree, noRoute, type Place, placeOf } from './places.ts';
import { noteUse } from './use.ts';
import {
  documentWire,
  errorWire,
  nowWire,
  pageWire,
  postedWire,
  servedWire,
  type Wire,
  type Wish,
  windowSpent,
} from './wire.ts';

export interface Deps extends HitDeps {
  readonly answers: Answers;
  /** The longest request body, in bytes. */
  readonly bodyBytes: number;
  /** The API document, as JSON. */
  readonly document: string;
  /** The page at `/verify`. */
  readonly verifyPage: Page;
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
  readonly admit: Admit;
}

/** For the headers of an answer to a request that could not even be counted. */
const NO_QUOTA: Quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

export function handlers(deps: Deps): Handlers {
  const { answers, context, sealer, access, owed, onDefect } = deps;
  const { rateLimiter, clientIp, authenticator, admission, usage } = access;
  const serveHit = hits(deps);

  const get: Handler = (res, req) => {
    try {
      if (!serveHit(res, req)) slowGet(res, req);
    } catch (thrown) {
      new Reply(res, owed).send(errorWire(NO_QUOTA, thrown, onDefect));
    }
  };

  const slowGet = guarded('get', ({ req, match, place, quota, admit }) => {
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
    return served === undefined ? upstreamWire(question, admit, quota, wish) : sealedWire(served, quota, wish);
  });

  async function upstreamWire(question: Question, admit: Admit, quota: Quota, wish: Wish): Promise<Wire> {
    const startedMs = context.clock.monotonic();
    const served = await answers.resolve(question, admit);
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

  const post = guarded('post', ({ req, match, reply, quota, admit }) => {
    const route = match?.route;
    if (route?.kind !== 'post') return noRoute();
    const type = req.getHeader('content-type');
    if (!isJson(type)) throw new GatewayError('unsupported_media_type', 'the body must be application/json');
    return readBody(reply, route.maxBytes ?? deps.bodyBytes)
      .then((body) => route.resolve(route.parse(body), context, admit))
      .then((posted) => postedWire(quota, route.envelope, posted));
  });

  const options = guarded('options', ({ place, quota }) => {
    const allow = allowed(place);
    return { head: headText(204, quota, [...PREFLIGHT, ['Allow', allow]]).text, body: null };
  });

  const other = guarded('other', () => noRoute());

  /** The one way in for all but plain hits: frames, counts, refuses; whatever is thrown becomes an error answer. */
  function guarded(method: Exclude<keyof Handlers, 'head'>, answer: (visit: Visit) => Wire | Promise<Wire>): Handler {
    return (res, req) => {
      const reply = new Reply(res, owed, {
        isHead: method === 'get' && req.getMethod() === 'head',
        saidClose: req.getHeader('connection').toLowerCase() === 'close',
      });
      const url = req.getUrl();
      let quota = NO_QUOTA;
      let principal: Principal | undefined;
      let close = context.isDraining();
      const finish = (wire: Wire, outcome: RequestOutcome): void => {
        if (principal !== undefined) noteUse(usage, principal, url, outcome);
        if (close || context.isDraining()) reply.sendLast(wire);
        else reply.send(wire);
      };
      const send = (wire: Wire): void => finish(wire, 'answered');
      const fail = (thrown: unknown): void => finish(errorWire(quota, thrown, onDefect), outcomeOf(thrown));
      try {
        const address = clientIp.resolve(res, req);
        const match = matchRoute(url);
        const place = placeOf(url, match);
        quota = { ...rateLimiter.peek(address) };
        const fault = framingFault(req, method === 'post');
        close ||= fault !== undefined || clientIp.hasProxyHeader(res) || isLast(req, method === 'post');
        if (fault !== undefined) throw new GatewayError('invalid_request', fault);
        if (method !== 'options') {
          const counted = authenticator.consume(req, address, isFree(match) ? 0 : weightOf(req));
          ({ principal, quota } = counted);
          if (!quota.allowed) throw windowSpent(quota);
          checkMethod(method, place);
          if (counted.credentialsError !== undefined) throw counted.credentialsError;
          if (method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw unsigned();
        }
        const admit: Admit = (work) =>
          admission.run(rateLimitKeyOf(address, principal), authenticator.tierOf(principal), work);
        const wire = answer({ req, match, place, reply, quota, admit });
        if (wire instanceof Promise) wire.then(send, fail);
        else send(wire);
      } catch (thrown) {
        close ||= method === 'post' || method === 'other'; // a body may follow, which nobody will read
        fail(thrown);
      }
    };
  }

  return { get, head: slowGet, post, options, other };
}

function outcomeOf(thrown: unknown): RequestOutcome {
  const { status } = GatewayError.from(thrown);
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'failed';
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
