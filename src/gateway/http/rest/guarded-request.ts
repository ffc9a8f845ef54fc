import { type ErrorCode, GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RequestCost } from '../../../shared/domain/request-cost.ts';
import { BASE_UNITS, NONCE_UNITS, unitsOfUpstream } from '../../../shared/domain/units.ts';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { AdmittedCaller } from '../../access/limits/admission.ts';
import type { ExpectedUnits, RequestBill } from '../../access/limits/request-bill.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { Quota } from '../../access/quota/quota-window.ts';
import { addressKeyOf, callerNameOf, type RateLimitKey, siteKeyOf } from '../../access/quota/rate-limit-key.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { matchRoute } from '../../routes/index.ts';
import type { RouteMatch } from '../../routes/routing/match-route.ts';
import type { Admit } from '../../serving/read-through.ts';
import type { EngineRequest, EngineResponse } from '../engine/engine.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { Reply } from '../engine/reply.ts';
import { findFramingFault, isLastOnConnection } from '../engine/request-guard.ts';
import { type HitPathDeps, isForwardedByStranger } from './hit-path.ts';
import {
  checkMethod,
  checkStarted,
  isUnmetered,
  type PathKind,
  pathKindOf,
  pathLabel,
  type SitePaths,
} from './path-kinds.ts';
import { nonceNotApplicable } from './receipt-nonce.ts';
import type { AnsweredRequest } from './request-meter.ts';
import { requestIdIn } from './response-headers.ts';
import { type Charge, errorResponse, rateLimitExceeded } from './responses.ts';
import { recordUsage, usageOutcomeOf } from './usage-metering.ts';

export type GuardedMethod = 'get' | 'post' | 'options' | 'other';

/** A request that passed all checks, while its handler runs; the engine reuses `req` after that. */
export interface CheckedRequest {
  readonly req: EngineRequest;
  /** The address that the request counts for: 4 or 16 bytes. */
  readonly address: ArrayBuffer;
  readonly match: RouteMatch | undefined;
  readonly pathKind: PathKind;
  readonly reply: Reply;
  /** Charges units that are known before the work. Throws `rate_limited` if they are not left. */
  readonly pay: (units: number) => void;
  /** Returns the admission of work at the upstream, which reserves what that is expected to cost. */
  readonly admitFor: (expected: ExpectedUnits) => Admit;
  readonly cost: RequestCost;
  readonly maxRpcBytes: number;
  /** Whether the caller's address pays, and not its key or wallet. */
  readonly isByAddress: boolean;
  readonly charge: Charge;
  /** Marks a request that the cache has no answer for, so that its time is counted. */
  readonly markUncached: () => void;
}

/** Returns the response to a checked request. What it throws or rejects with becomes an error response. */
export type Responder = (request: CheckedRequest) => RawResponse | Promise<RawResponse>;

export interface GuardDeps
  extends Pick<HitPathDeps, 'context' | 'access' | 'sources' | 'meter' | 'pendingResponses' | 'onInternalError'> {
  /** The pages and the widget; none if they are not served. */
  readonly site: SitePaths;
}

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
  readonly #isHead: boolean;
  readonly #reply: Reply;
  #quota = UNCOUNTED_QUOTA;
  #principal: Principal | undefined;
  #credentialsError: GatewayError | undefined;
  /** Undefined for a request that costs nothing. */
  #bill: RequestBill | undefined;
  #knownUnits = 0;
  #cost: RequestCost | undefined;
  #answerUnits = 0;
  #mustClose: boolean;
  readonly #startedMs: number;
  /** The name of its path, as metrics show it. */
  #route = pathLabel('');
  #isUncached = false;
  #failure: ErrorCode | undefined;
  #caller: RateLimitKey = '';

  constructor(deps: GuardDeps, method: GuardedMethod, res: EngineResponse, req: EngineRequest) {
    this.#deps = deps;
    this.#method = method;
    this.#url = req.getUrl();
    this.#isHead = method === 'get' && req.getMethod() === 'head';
    this.#reply = new Reply(res, deps.pendingResponses, {
      isHead: this.#isHead,
      hasConnectionClose: req.getHeader('connection').toLowerCase() === 'close',
    });
    this.#mustClose = deps.context.isDraining();
    this.#startedMs = deps.context.clock.monotonic();
  }

  /** Checks the request and answers it. Never throws. */
  handle(res: EngineResponse, req: EngineRequest, respond: Responder): void {
    try {
      const response = respond(this.#check(res, req));
      if (response instanceof Promise) response.then(this.#send).catch(this.#fail);
      else this.#send(response);
    } catch (thrown) {
      this.#mustClose ||= this.#method === 'post' || this.#method === 'other'; // nobody reads a body that may follow
      this.#fail(thrown);
    }
  }

  #check(res: EngineResponse, req: EngineRequest): CheckedRequest {
    const { access, context, site } = this.#deps;
    const address = access.clientIp.resolve(res, req);
    this.#caller = addressKeyOf(address);
    const match = matchRoute(this.#url);
    this.#route = pathLabel(this.#url, match);
    const pathKind = pathKindOf(this.#url, match, site);
    this.#checkFraming(res, req, address);
    const isFree = this.#method === 'options' || isUnmetered(match);
    const units = isFree ? 0 : BASE_UNITS + (req.getHeader('x-receipt-nonce') === '' ? 0 : NONCE_UNITS);
    if (units > 0) this.#payKnownUnits(res, req, address, units);
    else this.#quota = { ...access.rateLimiter.peek(address) };
    if (this.#method !== 'options') checkMethod(this.#method, pathKind);
    if (units > 0) this.#checkCredentials(req);
    if (this.#method !== 'options') checkStarted(pathKind, context);
    const caller = this.#callerAt(address);
    const cost = new RequestCost(callerNameOf(caller.key), caller.tier.priority);
    this.#cost = cost;
    const admitFor = (expected: ExpectedUnits): Admit => this.#admitFor(caller, expected);
    return {
      req,
      address,
      match,
      pathKind,
      reply: this.#reply,
      pay: this.#pay,
      admitFor,
      cost,
      charge: this.#charge,
      markUncached: () => {
        this.#isUncached = true;
      },
      maxRpcBytes: caller.tier.rpcBytes,
      isByAddress: this.#principal === undefined,
    };
  }

  #checkFraming(res: EngineResponse, req: EngineRequest, address: ArrayBuffer): void {
    const allowsBody = this.#method === 'post';
    const fault = findFramingFault(req, allowsBody) ?? this.#deps.sources.findFault(req);
    this.#mustClose ||=
      fault !== undefined || this.#deps.access.clientIp.hasProxyHeader(res) || isLastOnConnection(req, allowsBody);
    if (fault === undefined) return;
    this.#bill = this.#deps.access.rateLimiter.openBill(address);
    this.#pay(BASE_UNITS);
    throw new GatewayError('invalid_request', fault);
  }

  /** Charges the known units. A caller without quota learns of nothing else that is wrong with the request. */
  #payKnownUnits(res: EngineResponse, req: EngineRequest, address: ArrayBuffer, units: number): void {
    const { principal, quota, bill, credentialsError } = this.#deps.access.authenticator.consume(req, address, units);
    this.#principal = principal;
    if (principal !== undefined) this.#caller = principal.id;
    this.#bill = bill;
    this.#credentialsError = credentialsError;
    if (!quota.allowed) {
      this.#quota = { ...quota };
      const { access, meter } = this.#deps;
      if (isForwardedByStranger(req, res, access.clientIp)) meter.countUntrustedForwarded(res.getRemoteAddress());
      throw rateLimitExceeded(this.#quota);
    }
    this.#knownUnits = units;
  }

  #checkCredentials(req: EngineRequest): void {
    if (this.#credentialsError !== undefined) throw this.#credentialsError;
    if (this.#method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw nonceNotApplicable();
  }

  readonly #pay = (units: number): void => {
    const bill = this.#bill;
    if (bill === undefined || units === 0) return;
    if (!bill.pay(units).allowed) throw rateLimitExceeded(this.#refuse(bill, units));
    this.#knownUnits += units;
  };

  /** Refuses units that are not left. The request then costs nothing but what it made at the upstream. */
  #refuse(bill: RequestBill, units: number): Quota {
    this.#knownUnits = 0;
    this.#quota = { ...bill.refusal(units, this.#upstreamUnits()) };
    return this.#quota;
  }

  #callerAt(address: ArrayBuffer): Pick<AdmittedCaller, 'key' | 'siteKey' | 'tier'> {
    const principal = this.#principal;
    const key = rateLimitKeyOf(address, principal);
    return { key, siteKey: siteKeyOf(key), tier: this.#deps.access.authenticator.tierOf(principal) };
  }

  #admitFor(caller: Pick<AdmittedCaller, 'key' | 'siteKey' | 'tier'>, expected: ExpectedUnits): Admit {
    const { admission } = this.#deps.access;
    const bill = this.#bill;
    if (bill === undefined) return (work) => admission.run(caller, work);
    const reserve = (): boolean => {
      const outcome = bill.reserve(expected);
      if (outcome === 'refused') throw rateLimitExceeded(this.#refuse(bill, expected.known), true);
      return outcome === 'granted';
    };
    const onEnd = (): void => {
      bill.settle(this.#knownUnits + this.#upstreamUnits());
      bill.release();
    };
    const { key, siteKey, tier } = caller;
    const admitted = { key, siteKey, tier, reserve, onEnd };
    return (work) => admission.run(admitted, work);
  }

  #upstreamUnits(): number {
    return this.#cost === undefined ? 0 : unitsOfUpstream(this.#cost);
  }

  readonly #charge: Charge = (answerUnits) => {
    if (this.#bill === undefined) return this.#quota;
    this.#answerUnits = this.#isHead ? 0 : answerUnits;
    return this.#bill.settle(this.#price());
  };

  #price(): number {
    return this.#knownUnits + this.#upstreamUnits() + this.#answerUnits;
  }

  readonly #send = (response: RawResponse): void => this.#finish(response, 'answered');

  readonly #fail = (thrown: unknown): void => this.#finish(this.#errorOf(thrown), usageOutcomeOf(thrown));

  /** Returns the response to an error, and charges what the request costs all the same. */
  #errorOf(thrown: unknown): RawResponse {
    const { code } = GatewayError.from(thrown);
    this.#failure = code;
    if (code === 'overloaded') this.#knownUnits = 0; // what was made at the upstream is paid all the same
    const quota = code === 'rate_limited' ? this.#quota : this.#charge(0);
    return errorResponse(quota, thrown, this.#deps.onInternalError);
  }

  /** Sends a response; in place of a long one, an error to a caller with too many pending bytes: that error is short. */
  #finish(wanted: RawResponse, wantedOutcome: RequestOutcome): void {
    const { access, context } = this.#deps;
    const refusal = this.#reply.reserve(wanted.body, this.#caller);
    const response = refusal === undefined ? wanted : this.#errorOf(refusal);
    const outcome = refusal === undefined ? wantedOutcome : usageOutcomeOf(refusal);
    // Nothing shows whether its reader accepts what has no body, or bounds how often it is requested at no charge.
    const isFree = this.#bill === undefined || this.#failure === 'rate_limited' || this.#failure === 'overloaded';
    this.#mustClose ||= isFree && (this.#isHead || response.body === null);
    this.#cost?.onCallsEnded(() => this.#bill?.settle(this.#price()));
    if (this.#principal !== undefined)
      recordUsage(access.usage, this.#principal, this.#route, outcome, this.#bill?.paid ?? 0);
    this.#count(response);
    if (this.#mustClose || context.isDraining()) this.#reply.sendAndClose(response);
    else this.#reply.send(response);
  }

  #count({ headers }: RawResponse): void {
    const { meter, context } = this.#deps;
    if (this.#failure !== undefined) meter.countError(this.#failure);
    const text = String(headers);
    const upstreamCalls = this.#cost?.calls ?? 0;
    const route = this.#route;
    const status = Number(text.slice(0, 3));
    const ms = context.clock.monotonic() - this.#startedMs;
    const method = this.#isHead ? 'head' : this.#method;
    const describe = (): AnsweredRequest => {
      return { route, method, path: this.#url, requestId: requestIdIn(text), status, ms, upstreamCalls };
    };
    meter.countAnswered({ route, status, ms }, this.#isUncached || upstreamCalls > 0, describe);
  }
}
