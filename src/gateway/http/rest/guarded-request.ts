import { type ErrorCode, GatewayError } from '../../../shared/domain/gateway-error.ts';
import { BASE_UNITS, NONCE_UNITS } from '../../../shared/domain/units.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import type { RequestAccount } from '../../access/limits/request-account.ts';
import type { Quota } from '../../access/quota/quota-window.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { matchRoute } from '../../routes/index.ts';
import type { RouteMatch } from '../../routes/routing/match-route.ts';
import type { EngineRequest, EngineResponse } from '../engine/engine.ts';
import type { RawResponse, StreamedResponse } from '../engine/raw-response.ts';
import { Reply } from '../engine/reply.ts';
import { framingOf, plainFramingOf } from '../engine/request-guard.ts';
import type { AnsweredRequest } from './answer-counts.ts';
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
import { requestIdIn, statusIn } from './response-headers.ts';
import { type ErrorResponseOptions, errorResponse, type Payer } from './responses.ts';
import { missingPage } from './site-response.ts';
import { recordUsage, usageOutcomeOf } from './usage-metering.ts';

export type GuardedMethod = 'get' | 'head' | 'post' | 'options' | 'other';

/** A request that passed all checks, while its handler runs; the engine reuses `req` after that. */
export interface CheckedRequest {
  readonly req: EngineRequest;
  /** The address that the request counts for: 4 or 16 bytes. */
  readonly address: ArrayBuffer;
  readonly match: RouteMatch | undefined;
  readonly pathKind: PathKind;
  readonly account: RequestAccount;
  readonly guarded: GuardedRequest;
  /** Whether it has no header that matters. */
  readonly isPlain: boolean;
}

/**
 * Returns the response to a checked request; undefined if it is given to the request later. What it throws or rejects with
 * becomes an error response.
 */
export type Responder = (request: CheckedRequest) => RawResponse | StreamedResponse | Promise<RawResponse> | undefined;

export interface GuardDeps
  extends Pick<HitPathDeps, 'context' | 'access' | 'sources' | 'answerCounts' | 'pendingResponses'>,
    ErrorResponseOptions {
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
export class GuardedRequest implements Payer {
  readonly reply: Reply;
  readonly #deps: GuardDeps;
  readonly #method: GuardedMethod;
  readonly #url: string;
  readonly #isPlain: boolean;
  readonly #isHead: boolean;
  #account: RequestAccount | undefined;
  #credentialsError: GatewayError | undefined;
  #isFree = true;
  #mustClose: boolean;
  readonly #startedMs: number;
  /** The name of its path, as metrics show it. */
  #route = pathLabel('');
  #isUncached = false;
  #failure: ErrorCode | undefined;
  /** Answers people whose path does not exist. */
  #missing: ReturnType<typeof missingPage>;

  /** `isPlain`: the request has no header that matters, so that none is looked up. */
  constructor(deps: GuardDeps, method: GuardedMethod, isPlain: boolean, res: EngineResponse, req: EngineRequest) {
    this.#deps = deps;
    this.#method = method;
    this.#url = req.getUrl();
    this.#isPlain = isPlain;
    this.#isHead = method === 'head';
    this.reply = new Reply(res, deps.pendingResponses, {
      isHead: this.#isHead,
      hasConnectionClose: !isPlain && req.getHeader('connection').toLowerCase() === 'close',
    });
    this.#mustClose = deps.context.isDraining();
    this.#startedMs = deps.context.clock.monotonic();
  }

  /** Checks the request and answers it. Never throws. */
  handle(res: EngineResponse, req: EngineRequest, respond: Responder): void {
    try {
      const response = respond(this.#check(res, req));
      if (response instanceof Promise)
        response.then((made) => this.sendAwaited(() => made)).catch((thrown) => this.failAwaited(thrown));
      else if (response !== undefined && 'begin' in response) this.#begin(response);
      else if (response !== undefined) this.send(response);
    } catch (thrown) {
      this.#mustClose ||= this.#method === 'post' || this.#method === 'other'; // nobody reads a body that may follow
      this.fail(thrown);
    }
  }

  #check(res: EngineResponse, req: EngineRequest): CheckedRequest {
    const { access, context, site } = this.#deps;
    const address = access.clientIp.resolve(res, req);
    const match = matchRoute(this.#url);
    this.#route = pathLabel(this.#url, match);
    const pathKind = pathKindOf(this.#url, match, site);
    if (pathKind === undefined && (this.#method === 'get' || this.#isHead)) this.#missing = missingPage(req, site);
    this.#checkFraming(res, req, address);
    const isOptions = this.#method === 'options';
    this.#isFree = isOptions || isUnmetered(match);
    const account = this.#isFree ? this.#openAccount(address) : this.#payKnownUnits(res, req, address);
    if (this.#method !== 'options') checkMethod({ method: this.#method, url: this.#url, pathKind }, site);
    if (!this.#isFree) this.#checkCredentials(req);
    if (!isOptions) checkStarted(pathKind, context, match);
    return { req, address, match, pathKind, account, guarded: this, isPlain: this.#isPlain };
  }

  #checkFraming(res: EngineResponse, req: EngineRequest, address: ArrayBuffer): void {
    const framing = this.#isPlain ? plainFramingOf(req, this.#url) : framingOf(req, this.#method === 'post');
    const fault = framing.fault ?? this.#deps.sources.findFault(req);
    this.#mustClose ||= fault !== undefined || framing.isLast || this.#deps.access.clientIp.hasProxyHeader(res);
    if (fault === undefined) return;
    this.#isFree = false;
    this.#openAccount(address).reserve(BASE_UNITS);
    throw new GatewayError('invalid_request', fault);
  }

  #openAccount(address: ArrayBuffer): RequestAccount {
    const { rateLimiter, authenticator } = this.#deps.access;
    this.#account = rateLimiter.openAccount(address, undefined, authenticator.tierOf(undefined));
    return this.#account;
  }

  /** Pays the known units. A caller without quota learns of nothing else that is wrong with the request. */
  #payKnownUnits(res: EngineResponse, req: EngineRequest, address: ArrayBuffer): RequestAccount {
    const { access, answerCounts } = this.#deps;
    const hasNonce = !this.#isPlain && req.getHeader('x-receipt-nonce') !== '';
    const account = this.#isPlain ? this.#openAccount(address) : this.#authenticate(req, address);
    try {
      account.reserve(BASE_UNITS + (hasNonce ? NONCE_UNITS : 0));
    } catch (refusal) {
      if (isForwardedByStranger(req, res, access.clientIp))
        answerCounts.countUntrustedForwarded(res.getRemoteAddress());
      throw refusal;
    }
    return account;
  }

  #authenticate(req: EngineRequest, address: ArrayBuffer): RequestAccount {
    const { account, credentialsError } = this.#deps.access.authenticator.open(req, address);
    this.#account = account;
    this.#credentialsError = credentialsError;
    return account;
  }

  #checkCredentials(req: EngineRequest): void {
    if (this.#credentialsError !== undefined) throw this.#credentialsError;
    if (this.#method === 'post' && req.getHeader('x-receipt-nonce') !== '') throw nonceNotApplicable();
  }

  /** Returns the admission of work at the upstream, which reserves what that may cost besides. */
  admitFor(account: RequestAccount, known: number, highest: number): Admit {
    const { admission } = this.#deps.access;
    const { key, siteKey, tier } = account;
    const reserve = (): boolean => this.#isFree || account.reserve(known, highest);
    const admitted = { key, siteKey, tier, reserve, onEnd: () => void account.settle() };
    return (work) => admission.enter(admitted, work);
  }

  charge(ofAnswer: number): Quota {
    return this.#account?.settle(this.#isHead || this.#isFree ? 0 : ofAnswer) ?? UNCOUNTED_QUOTA;
  }

  /** Marks a request that the cache has no answer for, so that its time is counted. */
  markUncached(): void {
    this.#isUncached = true;
  }

  send(response: RawResponse): void {
    this.#finish(response, 'answered');
  }

  /**
   * Sends a response that was waited for, if it is made then; an error in place of one that can't be made. As thousands may wait
   * for one slot, a turn of the event loop holds some of them. Never throws.
   */
  sendAwaited(make: () => RawResponse | undefined): void {
    this.#deps.pendingResponses.awaited.run(() => {
      try {
        const response = make();
        if (response !== undefined) this.send(response);
      } catch (thrown) {
        this.fail(thrown);
      }
    });
  }

  failAwaited(thrown: unknown): void {
    this.#deps.pendingResponses.awaited.run(() => this.fail(thrown));
  }

  fail(thrown: unknown): void {
    this.#finish(this.#errorOf(thrown), usageOutcomeOf(thrown));
  }

  /** Returns the response to an error, and charges what the request costs all the same. */
  #errorOf(thrown: unknown): RawResponse {
    const { code } = GatewayError.from(thrown);
    this.#failure = code;
    const account = this.#account;
    const quota = code === 'rate_limited' ? account?.refusal : account?.settle(0, code === 'overloaded');
    const shown = quota ?? UNCOUNTED_QUOTA;
    return code === 'route_not_found' && this.#missing !== undefined
      ? this.#missing(shown)
      : errorResponse(shown, thrown, this.#deps, this.#url);
  }

  /** Begins a response that goes on; what it costs is known. */
  #begin(response: StreamedResponse): void {
    this.#record('answered');
    this.#count(response);
    this.reply.sendParts(response);
  }

  #record(outcome: RequestOutcome): void {
    const account = this.#account;
    if (account === undefined) return;
    account.cost.onCallsEnded(() => account.settle());
    recordUsage(this.#deps.access.usage, account.principal, this.#route, outcome, account.paid);
  }

  /** Sends a response; in place of a long one, an error to a caller with too many pending bytes: that error is short. */
  #finish(wanted: RawResponse, wantedOutcome: RequestOutcome): void {
    const { context } = this.#deps;
    const refusal = this.reply.reserve(wanted.body, this.#account?.key ?? '');
    const response = refusal === undefined ? wanted : this.#errorOf(refusal);
    const outcome = refusal === undefined ? wantedOutcome : usageOutcomeOf(refusal);
    // Nothing shows whether its reader accepts what has no body, or bounds how often it is requested at no charge.
    const isFree = this.#isFree || this.#failure === 'rate_limited' || this.#failure === 'overloaded';
    this.#mustClose ||= isFree && (this.#isHead || response.body === null);
    this.#record(outcome);
    this.#count(response);
    if (this.#mustClose || context.isDraining()) this.reply.sendAndClose(response);
    else this.reply.send(response);
  }

  #count({ headers }: Pick<RawResponse, 'headers'>): void {
    const { answerCounts, context } = this.#deps;
    if (this.#failure !== undefined) answerCounts.countError(this.#failure);
    const upstreamCalls = this.#account?.cost.calls ?? 0;
    const route = this.#route;
    const status = statusIn(headers);
    const ms = context.clock.monotonic() - this.#startedMs;
    const describe = (): AnsweredRequest => {
      return {
        route,
        method: this.#method,
        path: this.#url,
        requestId: requestIdIn(String(headers)),
        status,
        ms,
        upstreamCalls,
      };
    };
    answerCounts.countAnswered({ route, status, ms }, this.#isUncached || upstreamCalls > 0, describe);
  }
}
