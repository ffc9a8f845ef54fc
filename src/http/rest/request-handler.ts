import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { Quota } from '../../access/limits/rate-limiter.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { parseTarget } from '../../domain/canonical-request.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { StaticPage } from '../../page/static-page.ts';
import { isNonce } from '../../receipts/statement.ts';
import { matchRoute } from '../../routes/index.ts';
import { parsePathArguments, parseQueryArguments } from '../../routing/arguments.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import type { Admit } from '../../routing/route.ts';
import { parseMinSlot } from '../../serving/min-slot.ts';
import type { CachedRead, ReadRequest, ReadThrough } from '../../serving/read-through.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { Reply } from '../engine/reply.ts';
import { readRequestBody } from '../engine/request-body.ts';
import { findFramingFault, isLastOnConnection, requestTargetOf } from '../engine/request-guard.ts';
import { createHitPath, type HitPathDeps } from './hit-path.ts';
import {
  allowedMethods,
  checkMethod,
  isUnmetered,
  type PathKind,
  pathKindOf,
  throwRouteNotFound,
} from './path-kinds.ts';
import { formatHeaders, PREFLIGHT_HEADERS } from './response-headers.ts';
import {
  type Conditions,
  cachedReadResponse,
  documentResponse,
  errorResponse,
  localResponse,
  pageResponse,
  postResponse,
  rateLimitExceeded,
} from './responses.ts';
import { recordUsage } from './usage-metering.ts';

export interface RequestHandlerDeps extends HitPathDeps {
  readonly readThrough: ReadThrough;
  /** The longest request body, in bytes. */
  readonly maxBodyBytes: number;
  /** The API document, as JSON. */
  readonly openApiDocument: string;
  /** The page at `/verify`. */
  readonly verifyPage: StaticPage;
}

type RequestHandler = (res: HttpResponse, req: HttpRequest) => void;

/** One handler for each method. None ever throws: the engine would abort the process. */
export interface MethodHandlers {
  readonly get: RequestHandler;
  readonly head: RequestHandler;
  readonly post: RequestHandler;
  readonly options: RequestHandler;
  readonly other: RequestHandler;
}

/** A request while its handler runs; the engine takes `req` back after that. */
interface RequestState {
  readonly req: HttpRequest;
  readonly match: RouteMatch | undefined;
  readonly pathKind: PathKind;
  readonly reply: Reply;
  readonly quota: Quota;
  readonly admit: Admit;
}

/** For the headers of an answer to a request that could not even be counted. */
const UNCOUNTED_QUOTA: Quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

export function createRequestHandlers(deps: RequestHandlerDeps): MethodHandlers {
  const { readThrough, context, sealer, access, pendingResponses, onInternalError } = deps;
  const { rateLimiter, clientIp, authenticator, admission, usage } = access;
  const serveHit = createHitPath(deps);

  const get: RequestHandler = (res, req) => {
    try {
      if (!serveHit(res, req)) fullGet(res, req);
    } catch (thrown) {
      new Reply(res, pendingResponses).send(errorResponse(UNCOUNTED_QUOTA, thrown, onInternalError));
    }
  };

  const fullGet = guarded('get', ({ req, match, pathKind, quota, admit }) => {
    const nonce = parseNonce(req.getHeader('x-receipt-nonce'));
    if (nonce !== undefined && match?.route.envelope !== 'signed') throw nonceNotApplicable();
    const conditions = { nonce, ifNoneMatch: req.getHeader('if-none-match'), accept: req.getHeader('accept-encoding') };
    if (pathKind === 'page') return pageResponse(quota, deps.verifyPage, conditions);
    if (match === undefined) return documentResponse(quota, deps.openApiDocument);
    const { route, pathTexts } = match;
    if (route.kind === 'post') return throwRouteNotFound();
    const inPathArguments = parsePathArguments(route, pathTexts);
    const target = parseTarget(requestTargetOf(req));
    const params = { ...inPathArguments, ...parseQueryArguments(route, target) };
    if (route.kind === 'local') return localResponse(quota, route, params, context);
    const readRequest = { route, params, key: target.canonical, minSlot: parseMinSlot(req.getHeader('x-min-slot')) };
    const cachedRead = readThrough.fromCache(readRequest);
    return cachedRead === undefined
      ? fetchResponse(readRequest, admit, quota, conditions)
      : sealedResponse(cachedRead, quota, conditions);
  });

  async function fetchResponse(
    readRequest: ReadRequest,
    admit: Admit,
    quota: Quota,
    conditions: Conditions,
  ): Promise<RawResponse> {
    const startedMs = context.clock.monotonic();
    const cachedRead = await readThrough.fetch(readRequest, admit);
    return sealedResponse(cachedRead, quota, conditions, context.clock.monotonic() - startedMs);
  }

  /** At once when the body is at hand, else in this turn of the event loop. */
  function sealedResponse(
    cachedRead: CachedRead,
    quota: Quota,
    conditions: Conditions,
    upstreamMs?: number,
  ): RawResponse | Promise<RawResponse> {
    const { entry } = cachedRead;
    const response = (body: string | Buffer): RawResponse =>
      cachedReadResponse(quota, { ...cachedRead, body, upstreamMs }, conditions);
    if (conditions.nonce !== undefined) return sealer.sealWithNonce(entry, conditions.nonce).then(response);
    const body = sealer.bodyOf(entry);
    return body === undefined ? sealer.seal(entry).then(response) : response(body);
  }

  const post = guarded('post', ({ req, match, reply, quota, admit }) => {
    const route = match?.route;
    if (route?.kind !== 'post') return throwRouteNotFound();
    const type = req.getHeader('content-type');
    if (!isJsonContentType(type)) throw new GatewayError('unsupported_media_type', 'the body must be application/json');
    return readRequestBody(reply, route.maxBytes ?? deps.maxBodyBytes)
      .then((body) => route.resolve(route.parse(body), context, admit))
      .then((posted) => postResponse(quota, route.envelope, posted));
  });

  const options = guarded('options', ({ pathKind, quota }) => {
    const allow = allowedMethods(pathKind);
    return { headers: formatHeaders(204, quota, [...PREFLIGHT_HEADERS, ['Allow', allow]]).text, body: null };
  });

  const other = guarded('other', () => throwRouteNotFound());

  /** The one way in for all but plain hits: frames, counts, refuses; whatever is thrown becomes an error answer. */
  function guarded(
    method: Exclude<keyof MethodHandlers, 'head'>,
    answer: (state: RequestState) => RawResponse | Promise<RawResponse>,
  ): RequestHandler {
    return (res, req) => {
      const reply = new Reply(res, pendingResponses, {
        isHead: method === 'get' && req.getMethod() === 'head',
        hasConnectionClose: req.getHeader('connection').toLowerCase() === 'close',
      });
      const url = req.getUrl();
      let quota = UNCOUNTED_QUOTA;
      let principal: Principal | undefined;
      let close = context.isDraining();
      const finish = (response: RawResponse, outcome: RequestOutcome): void => {
        if (principal !== undefined) recordUsage(usage, principal, url, outcome);
        if (close || context.isDraining()) reply.sendAndClose(response);
        else reply.send(response);
      };
      const send = (response: RawResponse): void => finish(response, 'answered');
      const fail = (thrown: unknown): void =>
        finish(errorResponse(quota, thrown, onInternalError), usageOutcomeOf(thrown));
      try {
        const address = clientIp.resolve(res, req);
        const match = matchRoute(url);
        const pathKind = pathKindOf(url, match);
        quota = { ...rateLimiter.peek(address) };
        const fault = findFramingFault(req, method === 'post');
        close ||= fault !== undefined || clientIp.hasProxyHeader(res) || isLastOnConnection(req, method === 'post');
        if (fault !== undefined) throw new GatewayError('invalid_request', fault);
        if (method !== 'options') {
          const metered = authenticator.consume(req, address, isUnmetered(match) ? 0 : weightOf(req));
          ({ principal, quota } = metered);
          if (!quota.allowed) throw rateLimitExceeded(quota);
          checkMethod(method, pathKind);
          if (metered.credentialsError !== undefined) throw metered.credentialsError;
          if (method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw nonceNotApplicable();
        }
        const admit: Admit = (work) =>
          admission.run(rateLimitKeyOf(address, principal), authenticator.tierOf(principal), work);
        const response = answer({ req, match, pathKind, reply, quota, admit });
        if (response instanceof Promise) response.then(send, fail);
        else send(response);
      } catch (thrown) {
        close ||= method === 'post' || method === 'other'; // a body may follow, which nobody will read
        fail(thrown);
      }
    };
  }

  return { get, head: fullGet, post, options, other };
}

function usageOutcomeOf(thrown: unknown): RequestOutcome {
  const { status } = GatewayError.from(thrown);
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'failed';
}

/** An answer that is signed for one caller alone costs more than one for all. */
const weightOf = (req: HttpRequest): number => (req.getHeader('x-receipt-nonce') === '' ? 1 : 2);

/** Reads the `X-Receipt-Nonce` header: what the caller wants to find in the receipt, so that it can't be an old one. */
function parseNonce(value: string): string | undefined {
  if (value === '') return undefined;
  if (isNonce(value)) return value;
  throw new GatewayError('invalid_nonce', 'X-Receipt-Nonce must be 16 to 64 letters, digits, "-" or "_"');
}

const nonceNotApplicable = (): GatewayError =>
  new GatewayError('invalid_nonce', 'what is asked for carries no receipt, so there is nothing to bind to a nonce');

const isJsonContentType = (type: string): boolean => type === '' || /^application\/json\s*(;|$)/i.test(type);
