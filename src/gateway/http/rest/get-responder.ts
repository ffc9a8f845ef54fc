import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import { isLoopback } from '../../access/limits/client-ip.ts';
import { parsePathArguments, parseQueryArguments } from '../../routes/routing/arguments.ts';
import { LARGE_READ_UNITS } from '../../routes/routing/route.ts';
import { demandedAgree, type RouteReads } from '../../routes/routing/route-read-through.ts';
import { minSlotOfPast, parseMinSlot } from '../../serving/min-slot.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import type { CheckedRequest, GuardedRequest } from './guarded-request.ts';
import type { HitPathDeps } from './hit-path.ts';
import { type SitePaths, throwRouteNotFound } from './path-kinds.ts';
import { nonceNotApplicable, parseNonce } from './receipt-nonce.ts';
import { type Conditions, cachedReadResponse, localResponse, type SealedRead, siteFileResponse } from './responses.ts';

export interface GetResponderDeps extends Pick<HitPathDeps, 'context' | 'sealer'> {
  readonly readThrough: RouteReads;
  readonly site: SitePaths;
}

type UnsealedRead = Omit<SealedRead, 'body'>;

/** Answers the GETs that the hit path hands over: misses, conditional requests, local routes, documents and pages. */
export class GetResponder {
  readonly #deps: GetResponderDeps;

  constructor(deps: GetResponderDeps) {
    this.#deps = deps;
  }

  /** Returns the response, or gives it to the request once it is read and sealed. */
  respond({ req, address, match, account, guarded }: CheckedRequest): RawResponse | undefined {
    const { context, readThrough, site } = this.#deps;
    const nonce = parseNonce(req.getHeader('x-receipt-nonce'));
    if (nonce !== undefined && match?.route.envelope !== 'signed') throw nonceNotApplicable();
    const conditions = { nonce, ifNoneMatch: req.getHeader('if-none-match'), accept: req.getHeader('accept-encoding') };
    if (match === undefined)
      return siteFileResponse(guarded, site.get(req.getUrl()) ?? throwRouteNotFound(), conditions);
    const { route } = match;
    if (route.kind === 'post') return throwRouteNotFound();
    const pathArguments = parsePathArguments(route, match.pathTexts);
    const target = parseTarget(requestTargetOf(req));
    const params = parseQueryArguments(route, target, pathArguments);
    if (route.kind === 'local') {
      return localResponse(guarded, route, params, context, { isLoopback: isLoopback(address) });
    }
    const minSlot = parseMinSlot(req.getHeader('x-min-slot'));
    const agree = demandedAgree(route, req.getHeader('x-agree'), context);
    const request = { route, params, key: target.canonical, minSlot, agree };
    const pastSlot = route.kind === 'read' ? route.pastSlotOf?.(params) : undefined;
    if (minSlot !== undefined && pastSlot !== undefined) throw minSlotOfPast();
    const cachedRead = readThrough.fromCache(request);
    if (cachedRead !== undefined) return this.#respondWith({ ...cachedRead, pastSlot }, guarded, conditions);
    guarded.markUncached();
    const isRead = route.kind === 'read'; // what the pipeline keeps current costs no more
    const known = (isRead ? route.missUnitsOf?.(params) : 0) ?? 0;
    const highest = (isRead ? route.mostUnitsOf?.(params) : 0) ?? LARGE_READ_UNITS;
    const startedMs = context.clock.monotonic();
    readThrough
      .fetch(request, guarded.admitFor(account, known, highest), account.cost)
      .then(({ entry, cacheStatus }) => {
        const upstreamMs = context.clock.monotonic() - startedMs;
        const response = this.#respondWith({ entry, cacheStatus, pastSlot, upstreamMs }, guarded, conditions);
        if (response !== undefined) guarded.send(response);
      })
      .catch((thrown: unknown) => guarded.fail(thrown));
    return undefined;
  }

  /** Returns the response if the body exists; else the request gets it when that is made, in this turn of the event loop. */
  #respondWith(read: UnsealedRead, guarded: GuardedRequest, conditions: Conditions): RawResponse | undefined {
    const { sealer } = this.#deps;
    const { nonce } = conditions;
    const body = nonce === undefined ? sealer.bodyOf(read.entry) : undefined;
    if (body !== undefined) return cachedReadResponse(guarded, { ...read, body }, conditions);
    const entry = read.entry.successor ?? read.entry;
    sealer.sealFor(entry, nonce ?? null, {
      resolve: (body) => guarded.sendMade(() => cachedReadResponse(guarded, { ...read, entry, body }, conditions)),
      reject: (thrown) => guarded.fail(thrown),
    });
    return undefined;
  }
}
