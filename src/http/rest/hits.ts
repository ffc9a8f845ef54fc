import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Access } from '../../access/open-access.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isNonce } from '../../receipts/statement.ts';
import type { Context } from '../../routing/route.ts';
import type { Sealer } from '../../serving/seal.ts';
import { FirstLook, targetOf } from '../engine/edge.ts';
import { type Owed, Reply } from '../engine/reply.ts';
import { coded, isCompressible } from './encoding.ts';
import { HitHead } from './head.ts';
import { HitHeads } from './hit-heads.ts';
import { noteUse } from './use.ts';
import { errorWire, windowSpent } from './wire.ts';

/** What a hit takes. */
export interface HitDeps {
  readonly context: Context;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly owed: Owed;
  /** Told of what is a defect: the caller sees only `internal_error`, and the id of the request. */
  readonly onDefect: (requestId: string, thrown: unknown) => void;
}

/** Headers beside a nonce that ask for what only the slow path knows of. */
const hasOther = (req: HttpRequest): boolean =>
  req.getHeader('if-none-match') !== '' || req.getHeader('x-min-slot') !== '';

/** The way of a GET that the cache has an answer for. Returns false, and has done nothing, when it is for the guard. */
export function hits(deps: HitDeps): (res: HttpResponse, req: HttpRequest) => boolean {
  const { context, sealer, access, owed, onDefect } = deps;
  const { rateLimiter, clientIp, authenticator, usage } = access;
  const { cache } = context;
  const firstLook = new FirstLook();
  const hitHeads = new HitHeads();
  const boundHead = new HitHead([
    ['X-Cache', 'HIT'],
    ['Cache-Control', 'no-store'],
  ]);

  /** A plain hit is answered right here: no parsing, no promise, no JSON, no signature. False if it is none. */
  function serveHit(res: HttpResponse, req: HttpRequest): boolean {
    const sight = firstLook.at(req);
    if (sight === 'odd' || context.isDraining() || clientIp.hasProxyHeader(res)) return false;
    if (sight === 'special') return hitForOne(res, req);
    const entry = cache.get(targetOf(req)); // a key in the cache was valid when it got there
    if (entry === undefined || !cache.isFresh(entry)) return false;
    const body = sealer.bodyOf(entry);
    if (body === undefined) return false;
    const address = clientIp.resolve(res, req);
    const account = firstLook.namesCaller ? authenticator.authenticate(req, address) : undefined;
    if (account instanceof GatewayError) return false;
    const quota = rateLimiter.consume(address, 1, account);
    if (account !== undefined) noteUse(usage, account, req.getUrl(), quota.allowed ? 'answered' : 'limited');
    if (quota.allowed) {
      const accept = isCompressible(body) ? req.getHeader('accept-encoding') : '';
      const { coding, body: bytes } =
        accept === '' ? { coding: 'identity' as const, body } : coded(entry, body, accept);
      res.writeStatus(hitHeads.of(entry, coding).fill(quota, entry));
      res.end(bytes);
    } else new Reply(res, owed).send(errorWire(quota, windowSpent(quota), onDefect));
    return true;
  }

  /** The same for a caller who sent a nonce and nothing else that is special: of his own is only the receipt. */
  function hitForOne(res: HttpResponse, req: HttpRequest): boolean {
    const nonce = req.getHeader('x-receipt-nonce');
    if (!isNonce(nonce) || hasOther(req)) return false;
    const entry = cache.get(targetOf(req));
    if (entry?.meta.envelope !== 'signed' || entry.refusal !== undefined || !cache.isFresh(entry)) return false;
    const address = clientIp.resolve(res, req);
    const account = firstLook.namesCaller ? authenticator.authenticate(req, address) : undefined;
    if (account instanceof GatewayError) return false;
    const quota = { ...rateLimiter.consume(address, 2, account) };
    if (account !== undefined) noteUse(usage, account, req.getUrl(), quota.allowed ? 'answered' : 'limited');
    const reply = new Reply(res, owed);
    const fail = (thrown: unknown): void => reply.send(errorWire(quota, thrown, onDefect));
    if (!quota.allowed) fail(windowSpent(quota));
    else {
      sealer.sealFor(entry, nonce).then((body) => {
        reply.send({ head: boundHead.fill(quota, entry), body });
      }, fail);
    }
    return true;
  }

  return serveHit;
}
