import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Access } from '../../access/access.ts';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { Quota } from '../../access/limits/quota.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { Entry } from '../../cache/entry.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { NONCE_UNITS } from '../../domain/units.ts';
import { isNonce } from '../../receipts/statement.ts';
import type { RouteContext } from '../../routing/route.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { AllowedSources } from '../engine/allowed-sources.ts';
import { WHOLE_BODY_BYTES } from '../engine/body-sender.ts';
import { type PendingResponses, Reply } from '../engine/reply.ts';
import { RequestClassifier, requestTargetOf } from '../engine/request-guard.ts';
import { encodeBody, isCompressible, shareBody } from './content-coding.ts';
import { HitHeaders } from './hit-headers.ts';
import { pathLabel } from './path-kinds.ts';
import type { RequestMeter } from './request-meter.ts';
import { HeaderTemplate } from './response-headers.ts';
import { errorResponse, rateLimitExceeded } from './responses.ts';
import { recordUsage, usageOutcomeOf } from './usage-metering.ts';

export interface HitPathDeps {
  readonly context: RouteContext;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly pendingResponses: PendingResponses;
  readonly sources: AllowedSources;
  readonly meter: RequestMeter;
  /** Called with the cause of an `internal_error`: the caller sees only that code and the request id. */
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** Returns true for a request whose sender names other callers and is no trusted proxy: these all count as one. */
export const isForwardedByStranger = (req: HttpRequest, res: HttpResponse, clientIp: Access['clientIp']): boolean =>
  req.getHeader('x-forwarded-for') !== '' && !clientIp.isTrustedProxy(res.getRemoteAddress());

/** Returns true if a request has conditions besides a nonce: only the full handler evaluates those. */
const hasOtherConditions = (req: HttpRequest): boolean =>
  req.getHeader('if-none-match') !== '' || req.getHeader('x-min-slot') !== '';

/**
 * Creates the handler of GETs that the cache answers. It returns false, and has done nothing, for a request that needs
 * the full handler.
 */
export function createHitPath(deps: HitPathDeps): (res: HttpResponse, req: HttpRequest) => boolean {
  const { context, sealer, access, sources, meter, pendingResponses, onInternalError } = deps;
  const { rateLimiter, clientIp, authenticator, usage } = access;
  const { cache } = context;
  const classifier = new RequestClassifier();
  const hitHeaders = new HitHeaders();
  const nonceHeaders = new HeaderTemplate([
    ['X-Cache', 'HIT'],
    ['Cache-Control', 'no-store'],
  ]);

  /** Answers a plain hit synchronously: no parsing, no promise, no JSON, no signature. Returns false for any other GET. */
  function serveHit(res: HttpResponse, req: HttpRequest): boolean {
    const requestClass = classifier.classify(req);
    if (sources.isRestricted && sources.findFault(req) !== undefined) return false;
    if (requestClass === 'unsafe' || context.isDraining() || clientIp.hasProxyHeader(res)) return false;
    if (requestClass === 'conditional') return serveNonceHit(res, req);
    const entry = cache.get(requestTargetOf(req)); // a key in the cache was valid when it got there
    if (entry?.kind !== 'answer' || !cache.isFresh(entry)) return false;
    const sealed = sealer.bodyOf(entry);
    if (sealed === undefined) return serveSealed(res, req, entry.successor ?? entry, null);
    const body = shareBody(entry, sealed);
    const address = clientIp.resolve(res, req);
    if (classifier.hasCredentials && authenticator.mustVerify(req)) return false;
    const principal = classifier.hasCredentials ? authenticator.authenticate(req, address) : undefined;
    if (principal instanceof GatewayError) return false;
    const quota = rateLimiter.consume(address, entry.units, principal);
    let refusal = quota.allowed ? undefined : rateLimitExceeded(quota);
    const isForwarded = refusal !== undefined && isForwardedByStranger(req, res, clientIp);
    if (refusal === undefined) {
      const accept = isCompressible(body) ? req.getHeader('accept-encoding') : '';
      const { coding, body: bytes } =
        accept === '' ? { coding: 'identity' as const, body } : encodeBody(entry, body, accept);
      const template = hitHeaders.templateFor(entry, coding);
      if (bytes.length > WHOLE_BODY_BYTES) refusal = sendLong(res, bytes, address, principal, entry, quota, template);
      else {
        res.writeStatus(template.fill(quota, entry));
        const isSent = res.tryEnd(bytes, Buffer.byteLength(bytes))[1];
        if (!isSent) pendingResponses.bodies.handOver(res, bytes, rateLimitKeyOf(address, principal));
      }
    } else new Reply(res, pendingResponses).send(errorResponse(quota, refusal, onInternalError));
    if (refusal === undefined) meter.countHit(entry.meta.route ?? pathLabel(entry.key));
    else countRefusal(entry, refusal, isForwarded);
    if (principal !== undefined) recordHit(principal, req.getUrl(), refusal === undefined ? entry.units : 0, refusal);
    return true;
  }

  /**
   * Sends a hit whose body the engine doesn't take whole; its readers share the bytes. Returns why it was refused, in
   * which case it costs nothing.
   */
  function sendLong(
    res: HttpResponse,
    body: string | Buffer,
    address: ArrayBuffer,
    principal: Principal | undefined,
    entry: Entry,
    quota: Quota,
    template: HeaderTemplate,
  ): GatewayError | undefined {
    const reply = new Reply(res, pendingResponses);
    const refusal = reply.reserve(body, rateLimitKeyOf(address, principal));
    if (refusal === undefined) reply.send({ headers: template.fill(quota, entry), body });
    else reply.send(errorResponse(rateLimiter.giveBack(address, entry.units, principal), refusal, onInternalError));
    return refusal;
  }

  /** Answers a hit with a nonce and no other condition. */
  function serveNonceHit(res: HttpResponse, req: HttpRequest): boolean {
    const nonce = req.getHeader('x-receipt-nonce');
    if (!isNonce(nonce) || hasOtherConditions(req)) return false;
    const entry = cache.get(requestTargetOf(req));
    if (entry?.kind !== 'answer' || !cache.isFresh(entry)) return false;
    return serveSealed(res, req, entry.successor ?? entry, nonce);
  }

  /**
   * Answers a hit whose receipt is made at the end of this turn of the event loop, with all others: one with a nonce, or the
   * first read of a live account at its slot.
   */
  function serveSealed(res: HttpResponse, req: HttpRequest, entry: Entry, nonce: string | null): boolean {
    if (entry.meta.envelope !== 'signed') return false;
    const address = clientIp.resolve(res, req);
    if (classifier.hasCredentials && authenticator.mustVerify(req)) return false;
    const principal = classifier.hasCredentials ? authenticator.authenticate(req, address) : undefined;
    if (principal instanceof GatewayError) return false;
    const units = nonce === null ? entry.units : entry.units + NONCE_UNITS;
    let quota = { ...rateLimiter.consume(address, units, principal) };
    let paid = quota.allowed ? units : 0;
    const url = principal === undefined ? '' : req.getUrl();
    const accept = nonce === null ? req.getHeader('accept-encoding') : '';
    const isForwarded = !quota.allowed && isForwardedByStranger(req, res, clientIp);
    const reply = new Reply(res, pendingResponses);
    const reject = (thrown: unknown): void => {
      reply.send(errorResponse(quota, thrown, onInternalError));
      countRefusal(entry, GatewayError.from(thrown), isForwarded);
      if (principal !== undefined) recordHit(principal, url, paid, GatewayError.from(thrown));
    };
    if (!quota.allowed) {
      reject(rateLimitExceeded(quota));
      return true;
    }
    const resolve = (sealed: string | Buffer): void => {
      const { coding, body } = encodeBody(entry, nonce === null ? shareBody(entry, sealed) : sealed, accept);
      const refusal = reply.reserve(body, rateLimitKeyOf(address, principal));
      if (refusal !== undefined) {
        quota = { ...rateLimiter.giveBack(address, units, principal) };
        paid = 0;
        reject(refusal);
        return;
      }
      const template = nonce === null ? hitHeaders.templateFor(entry, coding) : nonceHeaders;
      reply.send({ headers: template.fill(quota, entry), body });
      meter.countHit(entry.meta.route ?? pathLabel(entry.key));
      if (principal !== undefined) recordHit(principal, url, units, undefined);
    };
    sealer.sealFor(entry, nonce, { resolve, reject });
    return true;
  }

  function countRefusal({ key, meta }: Entry, error: GatewayError, isForwarded: boolean): void {
    meter.countStatus(meta.route ?? pathLabel(key), error.status);
    meter.countError(error.code);
    if (isForwarded && error.code === 'rate_limited') meter.untrustedForwarded++;
  }

  /** Counts a hit, or its refusal, and the units that it was charged. */
  function recordHit(principal: Principal, url: string, units: number, refusal: GatewayError | undefined): void {
    recordUsage(usage, principal, url, refusal === undefined ? 'answered' : usageOutcomeOf(refusal), units);
  }

  return serveHit;
}
