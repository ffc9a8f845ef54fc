import type { Access } from '../../access/access.ts';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { ToldQuota } from '../../access/limits/quota.ts';
import { addressKeyOf, type RateLimitKey } from '../../access/limits/rate-limit-key.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { RequestOutcome } from '../../access/usage/usage-line.ts';
import type { Body, Entry, SealWaiter } from '../../cache/entry.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RouteContext } from '../../routing/route.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { AllowedSources } from '../engine/allowed-sources.ts';
import type { EngineRequest, EngineResponse } from '../engine/engine.ts';
import type { PipeliningDetector } from '../engine/pipelining-detector.ts';
import { WHOLE_BODY_BYTES } from '../engine/raw-response.ts';
import { type PendingResponses, Reply, type ReplyOptions } from '../engine/reply.ts';
import { RequestClassifier, requestTargetOf } from '../engine/request-guard.ts';
import { type EncodedBody, encodeBody, isCompressible, shareBody } from './content-coding.ts';
import {
  canAnswer,
  type HitConditions,
  hitConditionsIn,
  hitUnitsOf,
  isUnchanged,
  UNCONDITIONAL,
} from './hit-conditions.ts';
import { HitHeaders } from './hit-headers.ts';
import { pathLabel } from './path-kinds.ts';
import type { RequestMeter } from './request-meter.ts';
import { cachedReadResponse, errorResponse, rateLimitExceeded } from './responses.ts';
import { recordUsage, usageOutcomeOf } from './usage-metering.ts';

export interface HitPathDeps {
  readonly context: RouteContext;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly pendingResponses: PendingResponses;
  readonly pipelining: PipeliningDetector;
  readonly sources: AllowedSources;
  readonly meter: RequestMeter;
  /** Called with the cause of an `internal_error`: the caller sees only that code and the request id. */
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** A request that the cache answers, and who pays for it. */
interface Hit {
  readonly entry: Entry;
  readonly conditions: HitConditions;
  readonly units: number;
  readonly principal: Principal | undefined;
  /** The address of the caller; none where a principal pays wherever it connects from. */
  readonly address: ArrayBuffer;
  /** `Accept-Encoding`; empty for a body that isn't compressed. */
  readonly accept: string;
}

/** Returns true for a request whose sender names other callers and is no trusted proxy: these all count as one. */
export const isForwardedByStranger = (req: EngineRequest, res: EngineResponse, clientIp: Access['clientIp']): boolean =>
  req.getHeader('x-forwarded-for') !== '' && !clientIp.isTrustedProxy(res.getRemoteAddress());

/** Stands for an address that nothing is counted by: to ask the engine for one takes a system call. */
const NO_ADDRESS = new ArrayBuffer(0);

/**
 * Creates the handler of GETs that the cache answers. It returns false, and has done nothing, for a request that needs
 * the full handler.
 */
export function createHitPath(deps: HitPathDeps): (res: EngineResponse, req: EngineRequest) => boolean {
  const { context, sealer, access, sources, meter, pendingResponses, pipelining, onInternalError } = deps;
  const { rateLimiter, clientIp, authenticator, usage } = access;
  const { bodies } = pendingResponses;
  const { cache } = context;
  const classifier = new RequestClassifier();
  const hitHeaders = new HitHeaders();

  /** Answers a hit: no parsing, no promise, no JSON; a signature only if the answer has none that can be sent. */
  function serveHit(res: EngineResponse, req: EngineRequest): boolean {
    pipelining.countRequest();
    const requestClass = classifier.classify(req);
    if (sources.isRestricted && sources.findFault(req) !== undefined) return false;
    if (requestClass === 'unsafe' || context.isDraining() || clientIp.hasProxyHeader(res)) return false;
    const conditions = requestClass === 'plain' ? UNCONDITIONAL : hitConditionsIn(req);
    const item = cache.get(requestTargetOf(req)); // a key in the cache was valid when it got there
    if (item?.kind !== 'answer') return false;
    const cached = cache.isFresh(item) ? item : cache.renew(item);
    if (cached === undefined) return false;
    const sealed = conditions.nonce === null ? sealer.bodyOf(cached) : undefined;
    const entry = sealed === undefined ? (cached.successor ?? cached) : cached;
    if (sealed === undefined && entry.meta.envelope !== 'signed') return false;
    if (conditions !== UNCONDITIONAL && !canAnswer(entry, conditions)) return false;
    const { hasCredentials } = classifier;
    if (hasCredentials && authenticator.mustVerify(req)) return false;
    const principal = hasCredentials ? authenticator.authenticate(req, () => clientIp.resolve(res, req)) : undefined;
    if (principal instanceof GatewayError) return false;
    const paysByAddress = principal === undefined || principal.perIpLimit !== undefined;
    const address = paysByAddress ? clientIp.resolve(res, req) : NO_ADDRESS;
    const units = hitUnitsOf(entry, conditions);
    const accept = sealed === undefined || isCompressible(sealed) ? req.getHeader('accept-encoding') : '';
    const hit: Hit = { entry, conditions, units, principal, address, accept };
    const quota = rateLimiter.consume(address, units, principal);
    if (!quota.allowed) {
      if (isForwardedByStranger(req, res, clientIp)) meter.untrustedForwarded++;
      refuse(new Reply(res, pendingResponses), hit, quota, rateLimitExceeded(quota));
    } else if (sealed !== undefined) send(res, hit, sealed, quota);
    else seal(res, hit, quota);
    return true;
  }

  /** Sends a body at once: one that the engine takes whole without a `Reply`, since nothing is left to wait for. */
  function send(res: EngineResponse, hit: Hit, sealed: string | Buffer, quota: ToldQuota): void {
    const { entry, conditions } = hit;
    if (isUnchanged(conditions, entry)) {
      replyUnchanged(new Reply(res, pendingResponses), hit, sealed, quota);
      return;
    }
    const encoded = bodyFor(hit, sealed);
    const { coding, body } = encoded;
    if (body.length > WHOLE_BODY_BYTES) {
      replyWithBody(new Reply(res, pendingResponses), hit, encoded, quota);
      return;
    }
    const isTaken = bodies.sendWhole(res, hitHeaders.templateFor(entry, coding, conditions).fill(quota, entry), body);
    if (!isTaken) bodies.handOver(res, body, callerOf(hit));
    recordAnswer(hit);
  }

  /**
   * Has the receipt made: at the end of this turn of the event loop, with all others; or now, for a peer that may have more
   * requests behind this one, as those would be cut off.
   */
  function seal(res: EngineResponse, hit: Hit, quota: ToldQuota): void {
    const { entry, conditions, address } = hit;
    const peer = addressKeyOf(clientIp.peerOf(res, address));
    const { nonce } = conditions; // who sends one expects to wait for a signature
    const mustAnswer = nonce === null ? pipelining.mayPipeline(peer) : pipelining.hasPipelined(peer);
    const waiter = new WaitingHit(res, hit, quota, peer);
    if (mustAnswer) sealer.sealNow(entry, nonce, waiter);
    else sealer.sealFor(entry, nonce, waiter);
  }

  /** A hit that waits for its receipt, of which there may be tens of thousands a second: one object for all who call it. */
  class WaitingHit implements SealWaiter, ReplyOptions {
    readonly isHead = false;
    readonly hasConnectionClose = false;
    readonly #hit: Hit;
    readonly #quota: ToldQuota;
    readonly #peer: RateLimitKey;
    readonly #reply: Reply;
    #isSealed = false;

    constructor(res: EngineResponse, hit: Hit, quota: ToldQuota, peer: RateLimitKey) {
      this.#hit = hit;
      this.#quota = { limit: quota.limit, remaining: quota.remaining, reset: quota.reset }; // the limiter's next call overwrites it
      this.#peer = peer;
      this.#reply = new Reply(res, pendingResponses, this);
    }

    onAborted(): void {
      if (!this.#isSealed) pipelining.recordCutOff(this.#peer); // at once: other connections of the peer are read in this turn, too
    }

    resolve(body: Body): void {
      this.#isSealed = true;
      const hit = this.#hit;
      if (isUnchanged(hit.conditions, hit.entry)) replyUnchanged(this.#reply, hit, body, this.#quota);
      else replyWithBody(this.#reply, hit, bodyFor(hit, body), this.#quota);
    }

    reject(thrown: unknown): void {
      refuse(this.#reply, this.#hit, this.#quota, thrown);
    }
  }

  /** Tells a caller who has the result already that it has not changed. */
  function replyUnchanged(to: Reply, hit: Hit, sealed: string | Buffer, quota: ToldQuota): void {
    const { entry, conditions, units } = hit;
    to.reserve(null, callerOf(hit));
    const read = { entry, cacheStatus: 'HIT', body: sealed } as const;
    to.send(cachedReadResponse(() => quota, read, { ...conditions, nonce: conditions.nonce ?? undefined, accept: '' }));
    meter.countStatus(labelOf(entry), 304);
    recordUnits(hit, 'answered', units);
  }

  /** Sends a body that is long, or was waited for. */
  function replyWithBody(to: Reply, hit: Hit, { coding, body }: EncodedBody, quota: ToldQuota): void {
    const { entry, conditions, units, principal, address } = hit;
    const refusal = to.reserve(body, callerOf(hit));
    if (refusal !== undefined) {
      refuse(to, hit, rateLimiter.giveBack(address, units, principal), refusal);
      return;
    }
    to.send({ headers: hitHeaders.templateFor(entry, coding, conditions).fill(quota, entry), body });
    recordAnswer(hit);
  }

  /** Sends an error. What is refused costs nothing, save the receipt that couldn't be made. */
  function refuse(to: Reply, hit: Hit, quota: ToldQuota, thrown: unknown): void {
    const refusal = GatewayError.from(thrown);
    const isFree = refusal.code === 'rate_limited' || refusal.code === 'overloaded';
    to.send(errorResponse(quota, thrown, onInternalError));
    meter.countStatus(labelOf(hit.entry), refusal.status);
    meter.countError(refusal.code);
    recordUnits(hit, usageOutcomeOf(refusal), isFree ? 0 : hit.units);
  }

  const callerOf = ({ address, principal }: Hit) => rateLimitKeyOf(address, principal);

  /** Counts a hit that was answered by a body. */
  function recordAnswer(hit: Hit): void {
    meter.countHit(labelOf(hit.entry));
    recordUnits(hit, 'answered', hit.units);
  }

  function recordUnits({ principal, entry }: Hit, outcome: RequestOutcome, units: number): void {
    if (principal !== undefined) recordUsage(usage, principal, labelOf(entry), outcome, units);
  }

  return serveHit;
}

/** Returns the body as the caller takes it. One with a nonce goes to one caller: there is no use in keeping it compressed. */
function bodyFor({ entry, conditions, accept }: Hit, sealed: string | Buffer): EncodedBody {
  if (conditions.nonce !== null) return { coding: 'identity', body: sealed };
  return encodeBody(entry, shareBody(entry, sealed), accept);
}

/** Returns the name of the entry's path in usage records and metrics. */
const labelOf = ({ meta, key }: Entry): string => meta.route ?? pathLabel(key);
