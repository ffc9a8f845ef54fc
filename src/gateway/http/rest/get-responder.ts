import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import type { RequestCost } from '../../../shared/domain/request-cost.ts';
import type { SiteFile } from '../../../shared/site/site.ts';
import { isLoopback } from '../../access/limits/client-ip.ts';
import { parsePathArguments, parseQueryArguments } from '../../routes/routing/arguments.ts';
import { LARGE_READ_UNITS } from '../../routes/routing/route.ts';
import { demandedAgree, type ReadRequest, type RouteReads } from '../../routes/routing/route-read-through.ts';
import { parseMinSlot } from '../../serving/min-slot.ts';
import type { Admit, CachedRead } from '../../serving/read-through.ts';
import type { RawResponse } from '../engine/raw-response.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import type { CheckedRequest } from './guarded-request.ts';
import type { HitPathDeps } from './hit-path.ts';
import { type SitePaths, throwRouteNotFound } from './path-kinds.ts';
import { nonceNotApplicable, parseNonce } from './receipt-nonce.ts';
import { type Charge, type Conditions, cachedReadResponse, localResponse, siteFileResponse } from './responses.ts';

export interface GetResponderDeps extends Pick<HitPathDeps, 'context' | 'sealer'> {
  readonly readThrough: RouteReads;
  /** The OpenAPI document, as JSON. */
  readonly openApiDocument: SiteFile;
  /** The pages and the widget; none if they are not served. */
  readonly site: SitePaths;
}

/** Answers the GETs that the hit path hands over: misses, conditional requests, local routes, document and pages. */
export class GetResponder {
  readonly #deps: GetResponderDeps;

  constructor(deps: GetResponderDeps) {
    this.#deps = deps;
  }

  respond({
    req,
    address,
    match,
    admitFor,
    cost,
    charge,
    markUncached,
  }: CheckedRequest): RawResponse | Promise<RawResponse> {
    const { context, readThrough, openApiDocument, site } = this.#deps;
    const nonce = parseNonce(req.getHeader('x-receipt-nonce'));
    if (nonce !== undefined && match?.route.envelope !== 'signed') throw nonceNotApplicable();
    const conditions = { nonce, ifNoneMatch: req.getHeader('if-none-match'), accept: req.getHeader('accept-encoding') };
    if (match === undefined) return siteFileResponse(charge, site.get(req.getUrl()) ?? openApiDocument, conditions);
    const { route } = match;
    if (route.kind === 'post') return throwRouteNotFound();
    const pathArguments = parsePathArguments(route, match.pathTexts);
    const target = parseTarget(requestTargetOf(req));
    const params = parseQueryArguments(route, target, pathArguments);
    if (route.kind === 'local') {
      return localResponse(charge, route, params, context, { isLoopback: isLoopback(address) });
    }
    const minSlot = parseMinSlot(req.getHeader('x-min-slot'));
    const agree = demandedAgree(route, req.getHeader('x-agree'), context);
    const request = { route, params, key: target.canonical, minSlot, agree };
    const cachedRead = readThrough.fromCache(request);
    if (cachedRead !== undefined) return this.#seal(cachedRead, charge, conditions);
    markUncached();
    const isRead = route.kind === 'read'; // what the pipeline keeps current costs no more
    const known = (isRead ? route.missUnitsOf?.(params) : 0) ?? 0;
    const highest = (isRead ? route.mostUnitsOf?.(params) : 0) ?? LARGE_READ_UNITS;
    return this.#fetch(request, admitFor({ known, highest }), cost, charge, conditions);
  }

  #fetch(
    request: ReadRequest,
    admit: Admit,
    cost: RequestCost,
    charge: Charge,
    conditions: Conditions,
  ): Promise<RawResponse> {
    const { context, readThrough } = this.#deps;
    const startedMs = context.clock.monotonic();
    return readThrough
      .fetch(request, admit, cost)
      .then((read) => this.#seal(read, charge, conditions, context.clock.monotonic() - startedMs));
  }

  /** Returns the response if the body exists, else a promise that resolves in this turn of the event loop. */
  #seal(
    cachedRead: CachedRead,
    charge: Charge,
    conditions: Conditions,
    upstreamMs?: number,
  ): RawResponse | Promise<RawResponse> {
    const { sealer } = this.#deps;
    const { nonce } = conditions;
    const body = nonce === undefined ? sealer.bodyOf(cachedRead.entry) : undefined;
    const entry = body === undefined ? (cachedRead.entry.successor ?? cachedRead.entry) : cachedRead.entry;
    const responseWith = (body: string | Buffer): RawResponse =>
      cachedReadResponse(charge, { ...cachedRead, entry, body, upstreamMs }, conditions);
    return body === undefined ? sealer.seal(entry, nonce).then(responseWith) : responseWith(body);
  }
}
