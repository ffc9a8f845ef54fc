import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Access } from '../../access/access.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isNonce } from '../../receipts/statement.ts';
import type { RouteContext } from '../../routing/route.ts';
import type { Sealer } from '../../serving/sealer.ts';
import { type PendingResponses, Reply } from '../engine/reply.ts';
import { RequestClassifier, requestTargetOf } from '../engine/request-guard.ts';
import { encodeBody, isCompressible } from './content-coding.ts';
import { HitHeaders } from './hit-headers.ts';
import { NONCE_UNITS, unitsOfHit } from './request-units.ts';
import { HeaderTemplate } from './response-headers.ts';
import { errorResponse, rateLimitExceeded } from './responses.ts';
import { recordUsage } from './usage-metering.ts';

export interface HitPathDeps {
  readonly context: RouteContext;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly pendingResponses: PendingResponses;
  /** Called with the cause of an `internal_error`: the caller sees only that code and the request id. */
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

/** Returns true if a request has conditions besides a nonce: only the full handler evaluates those. */
const hasOtherConditions = (req: HttpRequest): boolean =>
  req.getHeader('if-none-match') !== '' || req.getHeader('x-min-slot') !== '';

/**
 * Creates the handler of GETs that the cache answers. It returns false, and has done nothing, for a request that needs
 * the full handler.
 */
export function createHitPath(deps: HitPathDeps): (res: HttpResponse, req: HttpRequest) => boolean {
  const { context, sealer, access, pendingResponses, onInternalError } = deps;
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
    if (requestClass === 'unsafe' || context.isDraining() || clientIp.hasProxyHeader(res)) return false;
    if (requestClass === 'conditional') return serveNonceHit(res, req);
    const entry = cache.get(requestTargetOf(req)); // a key in the cache was valid when it got there
    if (entry?.kind !== 'answer' || !cache.isFresh(entry)) return false;
    const body = sealer.bodyOf(entry);
    if (body === undefined) return false;
    const address = clientIp.resolve(res, req);
    const principal = classifier.hasCredentials ? authenticator.authenticate(req, address) : undefined;
    if (principal instanceof GatewayError) return false;
    const quota = rateLimiter.consume(address, unitsOfHit(entry), principal);
    if (principal !== undefined) recordUsage(usage, principal, req.getUrl(), quota.allowed ? 'answered' : 'limited');
    if (quota.allowed) {
      const accept = isCompressible(body) ? req.getHeader('accept-encoding') : '';
      const { coding, body: bytes } =
        accept === '' ? { coding: 'identity' as const, body } : encodeBody(entry, body, accept);
      res.writeStatus(hitHeaders.templateFor(entry, coding).fill(quota, entry));
      res.end(bytes);
    } else new Reply(res, pendingResponses).send(errorResponse(quota, rateLimitExceeded(quota), onInternalError));
    return true;
  }

  /** Answers a hit with a nonce and no other condition: only the receipt is made for this caller. */
  function serveNonceHit(res: HttpResponse, req: HttpRequest): boolean {
    const nonce = req.getHeader('x-receipt-nonce');
    if (!isNonce(nonce) || hasOtherConditions(req)) return false;
    const entry = cache.get(requestTargetOf(req));
    if (entry?.kind !== 'answer' || entry.meta.envelope !== 'signed' || !cache.isFresh(entry)) return false;
    const address = clientIp.resolve(res, req);
    const principal = classifier.hasCredentials ? authenticator.authenticate(req, address) : undefined;
    if (principal instanceof GatewayError) return false;
    const quota = { ...rateLimiter.consume(address, unitsOfHit(entry) + NONCE_UNITS, principal) };
    if (principal !== undefined) recordUsage(usage, principal, req.getUrl(), quota.allowed ? 'answered' : 'limited');
    const reply = new Reply(res, pendingResponses);
    const fail = (thrown: unknown): void => reply.send(errorResponse(quota, thrown, onInternalError));
    if (!quota.allowed) fail(rateLimitExceeded(quota));
    else {
      sealer.sealWithNonce(entry, nonce).then((body) => {
        reply.send({ headers: nonceHeaders.fill(quota, entry), body });
      }, fail);
    }
    return true;
  }

  return serveHit;
}
