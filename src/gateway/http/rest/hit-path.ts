import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Access } from '../../access/access.ts';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import { rateLimitExceeded } from '../../access/limits/request-account.ts';
import type { QuotaFigures } from '../../access/quota/quota-window.ts';
import { addressKeyOf, type RateLimitKey } from '../../access/quota/rate-limit-key.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import { type Body, type Entry, newestOf } from '../../cache/entry.ts';
import type { RouteContext } from '../../routes/routing/route.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { AllowedSources } from '../engine/allowed-sources.ts';
import type { EngineRequest, EngineResponse } from '../engine/engine.ts';
import type { PipeliningDetector } from '../engine/pipelining-detector.ts';
import { WHOLE_BODY_BYTES } from '../engine/raw-response.ts';
import { type PendingResponses, Reply } from '../engine/reply.ts';
import { RequestClassifier, requestTargetOf } from '../engine/request-guard.ts';
import type { AnswerCounts } from './answer-counts.ts';
import { bodyFor, type ContentCoding, type EncodedBody, isCompressible } from './content-coding.ts';
import {
  canAnswer,
  type HitConditions,
  hitConditionsIn,
  hitUnitsOf,
  isUnchanged,
  UNCONDITIONAL,
} from './hit-conditions.ts';
import { pathLabel } from './path-kinds.ts';
import { HeaderTemplate } from './response-headers.ts';
import { cacheControlOf, cachedReadResponse, type ErrorResponseOptions, errorResponse } from './responses.ts';
import { recordUsage, usageOutcomeOf } from './usage-metering.ts';
import { type Hit, WaitingHit } from './waiting-hit.ts';

export interface HitPathDeps extends ErrorResponseOptions {
  readonly context: RouteContext;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly pendingResponses: PendingResponses;
  readonly pipelining: PipeliningDetector;
  readonly sources: AllowedSources;
  readonly answerCounts: AnswerCounts;
}

interface Found {
  readonly entry: Entry;
  readonly conditions: HitConditions;
  /** The body; undefined if its receipt has to be made. */
  readonly body: Body | undefined;
}

type HitCaller = Pick<Hit, 'principal' | 'address'>;

/** Returns true for a request whose sender names other callers and is no trusted proxy: these all count as one. */
export const isForwardedByStranger = (req: EngineRequest, res: EngineResponse, clientIp: Access['clientIp']): boolean =>
  req.getHeader('x-forwarded-for') !== '' && !clientIp.isTrustedProxy(res.getRemoteAddress());

/** Stands for an address that nothing is counted by: to request it from the engine takes a system call. */
const NO_ADDRESS = new ArrayBuffer(0);

const NOTHING = (): void => {};

/** Answers GETs from the cache: no parsing, no promise, no JSON; a signature only if the answer has none that can be sent. */
export class HitPath {
  readonly pendingResponses: PendingResponses;
  readonly pipelining: PipeliningDetector;
  readonly #deps: HitPathDeps;
  readonly #classifier = new RequestClassifier();
  readonly #headers = new HitHeaders();

  constructor(deps: HitPathDeps) {
    this.#deps = deps;
    this.pendingResponses = deps.pendingResponses;
    this.pipelining = deps.pipelining;
  }

  /** True if the request that came last has no header that matters. */
  get isPlain(): boolean {
    return this.#classifier.isPlain;
  }

  /** Answers a hit. Returns false, and has done nothing, for a request that needs the full handler. */
  serve(res: EngineResponse, req: EngineRequest): boolean {
    this.pipelining.countRequest();
    const found = this.#lookUp(res, req);
    if (found === undefined) return false;
    const payer = this.#authorize(res, req);
    if (payer === undefined) return false;
    this.#respond(res, req, found, payer);
    return true;
  }

  /** Finds a fresh answer that meets the request's conditions. */
  #lookUp(res: EngineResponse, req: EngineRequest): Found | undefined {
    const { access, context, sealer, sources } = this.#deps;
    const requestClass = this.#classifier.classify(req);
    if (sources.isRestricted && sources.findFault(req) !== undefined) return undefined;
    if (requestClass === 'unsafe' || context.isDraining() || access.clientIp.hasProxyHeader(res)) return undefined;
    const conditions = requestClass === 'plain' ? UNCONDITIONAL : hitConditionsIn(req);
    const item = context.cache.get(requestTargetOf(req)); // a key in the cache was valid when it got there
    if (item?.kind !== 'answer') return undefined;
    if (item.meta.isSkipped === true) return undefined; // the full path names the slot in a header
    const cached = context.cache.isFresh(item) ? item : context.cache.renew(item);
    if (cached === undefined) return undefined;
    const body = conditions.nonce === null ? sealer.bodyOf(cached) : undefined;
    const entry = body === undefined ? newestOf(cached) : cached;
    if (body === undefined && entry.meta.envelope !== 'signed') return undefined;
    if (conditions !== UNCONDITIONAL && !canAnswer(entry, conditions)) return undefined;
    return { entry, conditions, body };
  }

  #authorize(res: EngineResponse, req: EngineRequest): HitCaller | undefined {
    const { authenticator, clientIp } = this.#deps.access;
    if (!this.#classifier.hasCredentials) return { principal: undefined, address: clientIp.resolve(res, req) };
    if (authenticator.mustVerify(req)) return undefined;
    const principal = authenticator.authenticate(req, () => clientIp.resolve(res, req));
    if (principal instanceof GatewayError) return undefined;
    const paysByAddress = principal === undefined || principal.perIpLimit !== undefined;
    return { principal, address: paysByAddress ? clientIp.resolve(res, req) : NO_ADDRESS };
  }

  #respond(res: EngineResponse, req: EngineRequest, { entry, conditions, body }: Found, payer: HitCaller): void {
    const { rateLimiter, clientIp } = this.#deps.access;
    const { principal, address } = payer;
    const units = hitUnitsOf(entry, conditions);
    const accept = body === undefined || isCompressible(body) ? req.getHeader('accept-encoding') : '';
    const hit: Hit = { entry, conditions, units, principal, address, accept };
    const quota = rateLimiter.consume(address, units, principal);
    if (!quota.allowed) {
      if (isForwardedByStranger(req, res, clientIp))
        this.#deps.answerCounts.countUntrustedForwarded(res.getRemoteAddress());
      this.refuse(new Reply(res, this.pendingResponses), hit, quota, rateLimitExceeded(quota));
    } else if (body !== undefined) this.#send(res, hit, body, quota);
    else this.#seal(res, hit, quota);
  }

  /** Sends a body immediately: one that the engine accepts whole without a `Reply`, since nothing is left to wait for. */
  #send(res: EngineResponse, hit: Hit, sealed: Body, quota: QuotaFigures): void {
    const { entry, conditions } = hit;
    const { bodies } = this.pendingResponses;
    if (isUnchanged(conditions, entry)) {
      this.#replyUnchanged(new Reply(res, this.pendingResponses), hit, sealed, quota);
      return;
    }
    const encoded = bodyOf(hit, sealed);
    const { coding, body } = encoded;
    if (body.length > WHOLE_BODY_BYTES) {
      this.#replyWithBody(new Reply(res, this.pendingResponses), hit, encoded, quota);
      return;
    }
    res.onAborted(NOTHING); // the response may stay pending: see EngineResponse.end
    const isSent = bodies.sendWhole(res, this.#headers.templateFor(entry, coding, conditions).fill(quota, entry), body);
    if (!isSent) bodies.handOver(res, body, callerOf(hit));
    this.#recordAnswer(hit);
  }

  /** At the end of this turn, with all others; or now, for a peer that may have more requests behind this one. */
  #seal(res: EngineResponse, hit: Hit, quota: QuotaFigures): void {
    const { access, sealer } = this.#deps;
    const { entry, conditions, address } = hit;
    const peer = addressKeyOf(access.clientIp.peerOf(res, address));
    const { nonce } = conditions; // a caller that sends one expects to wait for a signature
    const mustAnswer = nonce === null ? this.pipelining.mayPipeline(peer) : this.pipelining.hasPipelined(peer);
    const waiter = new WaitingHit(this, res, hit, quota, peer);
    if (mustAnswer) sealer.sealNow(entry, nonce, waiter);
    else sealer.sealFor(entry, nonce, waiter);
  }

  reply(to: Reply, hit: Hit, body: Body, quota: QuotaFigures): void {
    if (isUnchanged(hit.conditions, hit.entry)) this.#replyUnchanged(to, hit, body, quota);
    else this.#replyWithBody(to, hit, bodyOf(hit, body), quota);
  }

  /** Sends a caller that has the result already that it has not changed. */
  #replyUnchanged(to: Reply, hit: Hit, sealed: Body, quota: QuotaFigures): void {
    const { entry, conditions, units } = hit;
    to.reserve(null, callerOf(hit));
    const read = { entry, cacheStatus: 'HIT', body: sealed } as const;
    to.send(cachedReadResponse({ charge: () => quota }, read, { ...conditions, accept: '' }));
    this.#deps.answerCounts.countStatus(labelOf(entry), 304);
    this.#recordUnits(hit, 'answered', units);
  }

  #replyWithBody(to: Reply, hit: Hit, { coding, body }: EncodedBody, quota: QuotaFigures): void {
    const { entry, conditions, units, principal, address } = hit;
    const refusal = to.reserve(body, callerOf(hit));
    if (refusal !== undefined) {
      this.refuse(to, hit, this.#deps.access.rateLimiter.giveBack(address, units, principal), refusal);
      return;
    }
    to.send({ headers: this.#headers.templateFor(entry, coding, conditions).fill(quota, entry), body });
    this.#recordAnswer(hit);
  }

  /** Sends an error. What is refused costs nothing, save the receipt that couldn't be made. */
  refuse(to: Reply, hit: Hit, quota: QuotaFigures, thrown: unknown): void {
    const { answerCounts } = this.#deps;
    const refusal = GatewayError.from(thrown);
    const isFree = refusal.code === 'rate_limited' || refusal.code === 'overloaded';
    to.send(errorResponse(quota, thrown, this.#deps, hit.entry.key));
    answerCounts.countStatus(labelOf(hit.entry), refusal.status);
    answerCounts.countError(refusal.code);
    this.#recordUnits(hit, usageOutcomeOf(refusal), isFree ? 0 : hit.units);
  }

  #recordAnswer(hit: Hit): void {
    this.#deps.answerCounts.countHit(labelOf(hit.entry));
    this.#recordUnits(hit, 'answered', hit.units);
  }

  #recordUnits({ principal, entry }: Hit, outcome: RequestOutcome, units: number): void {
    if (principal !== undefined) recordUsage(this.#deps.access.usage, principal, labelOf(entry), outcome, units);
  }
}

const callerOf = ({ address, principal }: Hit): RateLimitKey => rateLimitKeyOf(address, principal);

const bodyOf = ({ entry, conditions, accept }: Hit, sealed: Body): EncodedBody =>
  bodyFor(entry, sealed, accept, conditions.nonce !== null);

const labelOf = ({ meta, key }: Entry): string => meta.route ?? pathLabel(key);

/** The header templates of cache hits: nearly all hits use the same one, the others are created when first needed. */
class HitHeaders {
  readonly #mutableTemplate = new HeaderTemplate('no-cache');
  readonly #nonceTemplate = new HeaderTemplate('no-store');
  readonly #otherTemplates = new Map<string, HeaderTemplate>();

  templateFor(entry: Entry, coding: ContentCoding, { nonce }: HitConditions): HeaderTemplate {
    if (nonce !== null) return this.#nonceTemplate;
    if (coding === 'identity' && !entry.final) return this.#mutableTemplate;
    const cacheControl = cacheControlOf(entry);
    const key = `${coding} ${cacheControl}`;
    const template = this.#otherTemplates.get(key) ?? new HeaderTemplate(cacheControl, coding);
    this.#otherTemplates.set(key, template);
    return template;
  }
}
