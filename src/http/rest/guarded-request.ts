import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import { addressKeyOf, callerNameOf, type RateLimitKey } from '../../access/limits/rate-limit-key.ts';
import type { Quota } from '../../access/limits/quota.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { RequestCost } from '../../domain/request-cost.ts';
import { matchRoute } from '../../routes/index.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import type { Admit } from '../../serving/read-through.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { Reply } from '../engine/reply.ts';
import { findFramingFault, isLastOnConnection } from '../engine/request-guard.ts';
import type { HitPathDeps } from './hit-path.ts';
import { checkMethod, checkStarted, type PathKind, pathKindOf } from './path-kinds.ts';
import { nonceNotApplicable } from './receipt-nonce.ts';
import { RequestArguments } from './request-arguments.ts';
import { unitsOf } from './request-units.ts';
import { errorResponse, rateLimitExceeded } from './responses.ts';
import { recordUsage } from './usage-metering.ts';

export type GuardedMethod = 'get' | 'post' | 'options' | 'other';

/** A request that passed all checks, while its handler runs; the engine takes `req` back after that. */
export interface CheckedRequest {
  readonly req: HttpRequest;
  /** The address that the request counts for: 4 or 16 bytes. */
  readonly address: ArrayBuffer;
  readonly match: RouteMatch | undefined;
  readonly args: RequestArguments;
  readonly pathKind: PathKind;
  readonly reply: Reply;
  readonly quota: Quota;
  readonly admit: Admit;
  /** What the request makes at the upstream. */
  readonly cost: RequestCost;
  /** The longest result of `/rpc` that the caller gets, in bytes. */
  readonly maxRpcBytes: number;
}

/** Returns the response to a checked request. What it throws or rejects with becomes an error response. */
export type Responder = (request: CheckedRequest) => RawResponse | Promise<RawResponse>;

export type GuardDeps = Pick<HitPathDeps, 'context' | 'access' | 'sources' | 'pendingResponses' | 'onInternalError'>;

/** The quota in the headers of a response to a request that could not be counted. */
export const UNCOUNTED_QUOTA: Quota = {
  allowed: true,
  units: 0,
  isByAddress: true,
  limit: 0,
  remaining: 0,
  reset: 0,
  retryAfter: 1,
};

/** One request on its way from the checks (framing, quota, method, credentials) to its response. */
export class GuardedRequest {
  readonly #deps: GuardDeps;
  readonly #method: GuardedMethod;
  readonly #url: string;
  readonly #reply: Reply;
  #quota = UNCOUNTED_QUOTA;
  #principal: Principal | undefined;
  #mustClose: boolean;
  /** Who the response is owed to. */
  #caller: RateLimitKey = '';

  constructor(deps: GuardDeps, method: GuardedMethod, res: HttpResponse, req: HttpRequest) {
    this.#deps = deps;
    this.#method = method;
    this.#url = req.getUrl();
    this.#reply = new Reply(res, deps.pendingResponses, {
      isHead: method === 'get' && req.getMethod() === 'head',
      hasConnectionClose: req.getHeader('connection').toLowerCase() === 'close',
    });
    this.#mustClose = deps.context.isDraining();
  }

  /** Checks the request and has it answered. Never throws. */
  handle(res: HttpResponse, req: HttpRequest, respond: Responder): void {
    try {
      const response = respond(this.#check(res, req));
      if (response instanceof Promise) response.then(this.#send, this.#fail);
      else this.#send(response);
    } catch (thrown) {
      this.#mustClose ||= this.#method === 'post' || this.#method === 'other'; // nobody reads a body that may follow
      this.#fail(thrown);
    }
  }

  #check(res: HttpResponse, req: HttpRequest): CheckedRequest {
    const { access } = this.#deps;
    const address = access.clientIp.resolve(res, req);
    this.#caller = addressKeyOf(address);
    const match = matchRoute(this.#url);
    const pathKind = pathKindOf(this.#url, match);
    const args = new RequestArguments(req);
    this.#quota = { ...access.rateLimiter.peek(address) };
    this.#checkFraming(res, req);
    if (this.#method !== 'options') {
      this.#consumeQuota(req, address, unitsOf(req, match, args), pathKind, this.#method);
      checkStarted(pathKind, this.#deps.context);
    }
    const [reply, quota, admit, cost] = [this.#reply, this.#quota, this.#admitFor(address), this.#costFor(address)];
    const { rpcBytes: maxRpcBytes } = access.authenticator.tierOf(this.#principal);
    return { req, address, match, args, pathKind, reply, quota, admit, cost, maxRpcBytes };
  }

  #checkFraming(res: HttpResponse, req: HttpRequest): void {
    const allowsBody = this.#method === 'post';
    const fault = findFramingFault(req, allowsBody) ?? this.#deps.sources.findFault(req);
    this.#mustClose ||=
      fault !== undefined || this.#deps.access.clientIp.hasProxyHeader(res) || isLastOnConnection(req, allowsBody);
    if (fault !== undefined) throw new GatewayError('invalid_request', fault);
  }

  /** Counts the request. A caller without quota learns of nothing else that is wrong with the request. */
  #consumeQuota(
    req: HttpRequest,
    address: ArrayBuffer,
    units: number,
    pathKind: PathKind,
    method: Exclude<GuardedMethod, 'options'>,
  ): void {
    const { principal, quota, credentialsError } = this.#deps.access.authenticator.consume(req, address, units);
    this.#principal = principal;
    if (principal !== undefined) this.#caller = principal.id;
    this.#quota = quota;
    if (!quota.allowed) throw rateLimitExceeded(quota);
    checkMethod(method, pathKind);
    if (credentialsError !== undefined) throw credentialsError;
    if (method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw nonceNotApplicable();
  }

  #admitFor(address: ArrayBuffer): Admit {
    const { admission, authenticator } = this.#deps.access;
    const principal = this.#principal;
    return (work) => admission.run(rateLimitKeyOf(address, principal), authenticator.tierOf(principal), work);
  }

  #costFor(address: ArrayBuffer): RequestCost {
    const principal = this.#principal;
    const { priority } = this.#deps.access.authenticator.tierOf(principal);
    return new RequestCost(callerNameOf(rateLimitKeyOf(address, principal)), priority);
  }

  readonly #send = (response: RawResponse): void => this.#finish(response, 'answered');

  readonly #fail = (thrown: unknown): void =>
    this.#finish(errorResponse(this.#quota, thrown, this.#deps.onInternalError), usageOutcomeOf(thrown));

  #finish(response: RawResponse, outcome: RequestOutcome): void {
    const { access, context, onInternalError } = this.#deps;
    const refusal = this.#reply.reserve(response.body, this.#caller);
    if (refusal !== undefined) {
      this.#finish(errorResponse(this.#quota, refusal, onInternalError), usageOutcomeOf(refusal));
      return;
    }
    if (this.#principal !== undefined) recordUsage(access.usage, this.#principal, this.#url, outcome);
    if (this.#mustClose || context.isDraining()) this.#reply.sendAndClose(response);
    else this.#reply.send(response);
  }
}

function usageOutcomeOf(thrown: unknown): RequestOutcome {
  const { status } = GatewayError.from(thrown);
  if (status === 429) return 'limited';
  return status < 500 ? 'refused' : 'failed';
}
