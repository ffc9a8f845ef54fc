import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import type { Waiter } from '../../../shared/runtime/waiter.ts';
import { isLoopback, valuesIn } from '../../access/limits/client-ip.ts';
import { newestOf } from '../../cache/entry.ts';
import { parsePathArguments, parseQueryArguments } from '../../routes/routing/arguments.ts';
import { LARGE_READ_UNITS } from '../../routes/routing/route.ts';
import { demandedAgree, type RouteReads } from '../../routes/routing/route-read-through.ts';
import { minSlotOfPast, parseMinSlot } from '../../serving/min-slot.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import type { CheckedRequest, GuardedRequest } from './guarded-request.ts';
import type { HitPathDeps } from './hit-path.ts';
import { type SitePaths, throwRouteNotFound } from './path-kinds.ts';
import { nonceNotApplicable, parseNonce } from './receipt-nonce.ts';
import { type Conditions, cachedReadResponse, localResponse, type SealedRead } from './responses.ts';
import { siteResponse } from './site-response.ts';

export interface GetResponderDeps extends Pick<HitPathDeps, 'context' | 'sealer'> {
  readonly readThrough: RouteReads;
  readonly site: SitePaths;
}

/**
 * Answers a GET that the hit path hands over: a miss, a conditional request, one of a local route, a document or a page.
 * Returns the response, or gives it to the request once it is read and sealed.
 */
export function respondToGet(
  deps: GetResponderDeps,
  { req, address, match, account, guarded, isPlain }: CheckedRequest,
): RawResponse | Promise<RawResponse> | undefined {
  const { context, readThrough, site } = deps;
  const headerOf = (name: string): string => (isPlain ? '' : req.getHeader(name));
  const nonce = parseNonce(headerOf('x-receipt-nonce'));
  if (nonce !== null && match?.route.envelope !== 'signed') throw nonceNotApplicable();
  const ifNoneMatch = isPlain ? '' : valuesIn(req, 'if-none-match').join(); // its lines are one list (RFC 9110 5.3)
  const conditions = { nonce, ifNoneMatch, accept: req.getHeader('accept-encoding') };
  if (match === undefined)
    return siteResponse(guarded, site.get(req.getUrl()) ?? throwRouteNotFound(), req, conditions, context);
  const { route } = match;
  if (route.kind === 'post') return throwRouteNotFound();
  const pathArguments = parsePathArguments(route, match.pathTexts);
  const target = parseTarget(requestTargetOf(req));
  const params = parseQueryArguments(route, target, pathArguments);
  if (route.kind === 'local') {
    return localResponse(guarded, route, params, context, { isLoopback: isLoopback(address) });
  }
  const minSlot = parseMinSlot(headerOf('x-min-slot'));
  const agree = demandedAgree(route, headerOf('x-agree'), context);
  const request = { route, params, key: target.canonical, minSlot, agree };
  if ((minSlot ?? 0) > 0 && route.kind === 'read' && route.pastSlotOf?.(params) !== undefined) throw minSlotOfPast();
  const isRead = route.kind === 'read'; // what the pipeline keeps current costs no more
  const known = (isRead ? route.missUnitsOf?.(params) : 0) ?? 0;
  const highest = (isRead ? route.mostUnitsOf?.(params) : 0) ?? LARGE_READ_UNITS;
  const awaited = new AwaitedRead(deps, guarded, conditions);
  const cached = readThrough.begin(request, awaited, guarded.admitFor(account, known, highest), account.cost);
  return cached && awaited.seal(cached);
}

/** A GET that waits for its answer, and then for the receipt of that, which is made in the same turn of the event loop. */
class AwaitedRead implements Waiter<CachedRead> {
  readonly #deps: GetResponderDeps;
  readonly #guarded: GuardedRequest;
  readonly #conditions: Conditions;
  readonly #startedMs: number;

  constructor(deps: GetResponderDeps, guarded: GuardedRequest, conditions: Conditions) {
    this.#deps = deps;
    this.#guarded = guarded;
    this.#conditions = conditions;
    this.#startedMs = deps.context.clock.monotonic();
  }

  resolve(read: CachedRead): void {
    this.#guarded.markUncached();
    const upstreamMs = this.#deps.context.clock.monotonic() - this.#startedMs;
    this.#guarded.sendAwaited(() => this.seal(read, upstreamMs));
  }

  reject(thrown: unknown): void {
    this.#guarded.markUncached();
    this.#guarded.failAwaited(thrown);
  }

  /** Returns the response if the body exists; else the request gets it when that is made. */
  seal({ entry, cacheStatus }: CachedRead, upstreamMs?: number): RawResponse | undefined {
    const { sealer } = this.#deps;
    const { nonce } = this.#conditions;
    const body = nonce === null ? sealer.bodyOf(entry) : undefined;
    if (body !== undefined) return this.#respond({ entry, cacheStatus, body, upstreamMs });
    const newest = newestOf(entry);
    sealer.sealFor(newest, nonce, {
      resolve: (body) =>
        this.#guarded.sendAwaited(() => this.#respond({ entry: newest, cacheStatus, body, upstreamMs })),
      reject: (thrown) => this.#guarded.failAwaited(thrown),
    });
    return undefined;
  }

  #respond(read: SealedRead): RawResponse {
    return cachedReadResponse(this.#guarded, read, this.#conditions);
  }
}
