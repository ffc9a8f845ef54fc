import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { type RequestCost, unitsOfBody } from '../../../shared/domain/units.ts';
import { runAdmitted } from '../../../shared/runtime/fair-semaphore.ts';
import type { TurnBudget } from '../../../shared/runtime/turn-budget.ts';
import type { RequestAccount } from '../../access/limits/request-account.ts';
import type { CallScope } from '../../routes/routing/request-scope.ts';
import { LARGE_READ_UNITS, type PostAnswer } from '../../routes/routing/route.ts';
import { parseMinSlot } from '../../serving/min-slot.ts';
import type { MethodHandlers, RequestHandler } from '../engine/engine.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { bodyTooLong, Reply } from '../engine/reply.ts';
import {
  type CheckedRequest,
  type GuardedMethod,
  GuardedRequest,
  type Responder,
  UNCOUNTED_QUOTA,
} from './guarded-request.ts';
import { HitPath, type HitPathDeps } from './hit-path.ts';
import { allowedMethods, pathLabel, throwRouteNotFound } from './path-kinds.ts';
import { type GetResponderDeps, respondToGet } from './respond-to-get.ts';
import { formatHeaders, type Header, PREFLIGHT_HEADERS } from './response-headers.ts';
import { errorResponse, postResponse } from './responses.ts';

export interface RequestHandlerDeps extends HitPathDeps, GetResponderDeps {
  /** The longest request body, in bytes. */
  readonly maxBodyBytes: number;
  readonly turnBudget: TurnBudget;
  /** Answers a GET of the stream that is no upgrade. */
  readonly respondToStream: Responder;
  /** Answers POSTs to `/rpc` elsewhere. Default: this process answers them. */
  readonly answerRpc?: (body: Buffer, scope: CallScope, cost: RequestCost) => Promise<PostAnswer>;
}

/** How much too long a body may be to be read and dropped: many clients read no answer before they have sent all. */
const MAX_DROPPED_BYTES = 1024 * 1024;

/** Creates the handlers of all requests: cache hits take the hit path, all others are guarded. None ever throws. */
export function createRequestHandlers(deps: RequestHandlerDeps): MethodHandlers {
  const { answerCounts, pendingResponses } = deps;
  const hitPath = new HitPath(deps);
  const guarded =
    (method: GuardedMethod, respond: Responder, isPlain = () => false): RequestHandler =>
    (res, req) => {
      new GuardedRequest(deps, method, isPlain(), res, req).handle(res, req, respond);
      return false;
    };

  const respond: Responder = (request) =>
    request.pathKind === 'stream' ? deps.respondToStream(request) : respondToGet(deps, request);
  const head = guarded('head', respond);
  const miss = guarded('get', respond, () => hitPath.isPlain);
  const get: RequestHandler = (res, req) => {
    try {
      return hitPath.serve(res, req) || miss(res, req);
    } catch (thrown) {
      answerCounts.countStatus(pathLabel(req.getUrl()), 500);
      answerCounts.countError('internal_error');
      new Reply(res, pendingResponses).send(errorResponse(UNCOUNTED_QUOTA, thrown, deps, req.getUrl()));
      return false;
    }
  };
  const post = guarded('post', (request) => respondToPost(deps, request));
  const options = guarded('options', respondToPreflight);
  const other = guarded('other', () => throwRouteNotFound());

  return { get, head, post, options, other };
}

function respondToPost(
  { context, maxBodyBytes, turnBudget, answerRpc }: RequestHandlerDeps,
  { req, match, account, guarded }: CheckedRequest,
): Promise<RawResponse> {
  const route = match?.route;
  if (route?.kind !== 'post') return throwRouteNotFound();
  if (!isJsonContentType(req.getHeader('content-type')))
    throw new GatewayError('unsupported_media_type', 'the body must be application/json');
  const maxBytes = route.maxBytes ?? maxBodyBytes;
  if (Number(req.getHeader('content-length')) > maxBytes + MAX_DROPPED_BYTES) throw bodyTooLong(maxBytes);
  const minSlot = route.hasSlot ? parseMinSlot(req.getHeader('x-min-slot')) : undefined;
  const { cost } = account;
  const { reply } = guarded;
  return reply
    .readBody(maxBytes)
    .then((body) => {
      account.reserve(unitsOfBody(body.length));
      const scope = {
        cost,
        minSlot,
        maxBytes: account.tier.rpcBytes,
        caller: cost.caller,
        bytes: body.length,
        // made where it is needed: it takes as long as a read of the cache
        get signal() {
          return reply.signal;
        },
      };
      return turnBudget.run(scope, () => {
        const parsed = route.parse(body, context);
        account.reserve(route.unitsOf?.(parsed) ?? 0);
        const isElsewhere = route.path === '/rpc' && answerRpc !== undefined; // where it may be a hit
        const known = isElsewhere ? 0 : (route.missUnitsOf?.(parsed) ?? 0);
        const admit = guarded.admitFor(account, known, route.mostUnitsOf?.(parsed) ?? LARGE_READ_UNITS);
        if (isElsewhere) return runAdmitted(admit, () => answerRpc(body, { minSlot, maxBytes: scope.maxBytes }, cost));
        return route.resolve(parsed, context, admit, scope);
      });
    })
    .then((answer) => {
      if (answer.cacheStatus !== 'HIT') guarded.markUncached();
      if (route.path === '/rpc' && answer.batch === undefined) checkRpcLength(answer, account);
      return postResponse(guarded, route.envelope, answer);
    });
}

/** Throws `result_too_large` for a result that is longer than the caller's tier gets. */
function checkRpcLength({ result, jsonRpcId }: PostAnswer, { tier, principal }: RequestAccount): void {
  const maxBytes = tier.rpcBytes;
  if (result.length <= maxBytes) return;
  const remedy = principal === undefined ? 'request less, or use an API key' : 'request less';
  const message = `the result has ${result.length} bytes, and your tier gets at most ${maxBytes}: ${remedy}`;
  const error = new GatewayError('result_too_large', message);
  throw jsonRpcId === undefined ? error : error.forJsonRpc(jsonRpcId);
}

function respondToPreflight({ pathKind, guarded }: CheckedRequest): RawResponse {
  if (pathKind === undefined) throwRouteNotFound();
  const headers: readonly Header[] = [...PREFLIGHT_HEADERS, ['Allow', allowedMethods(pathKind)]];
  return { headers: formatHeaders(204, guarded.charge(0), headers, null).text, body: null };
}

const isJsonContentType = (type: string): boolean => type === '' || /^application\/json\s*(;|$)/i.test(type);
