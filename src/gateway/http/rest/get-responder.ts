import { parseTarget } from '../../../shared/domain/canonical-request.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { Waiter } from '../../../shared/runtime/waiter.ts';
import { isLoopback } from '../../access/limits/client-ip.ts';
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
    if (cachedRead !== undefined) return this.respondWith({ ...cachedRead, pastSlot }, guarded, conditions);
    guarded.markUncached();
    const isRead = route.kind === 'read'; // what the pipeline keeps current costs no more
    const known = (isRead ? route.missUnitsOf?.(params) : 0) ?? 0;
    const highest = (isRead ? route.mostUnitsOf?.(params) : 0) ?? LARGE_READ_UNITS;
    const admit = guarded.admitFor(account, known, highest);
    readThrough.readTo(
      request,
      new AwaitedRead(this, guarded, conditions, pastSlot, context.clock),
      admit,
      account.cost,
    );
    return undefined;
  }

  /** Returns the response if the body exists; else the request gets it when that is made, in this turn of the event loop. */
  respondWith(read: UnsealedRead, guarded: GuardedRequest, conditions: Conditions): RawResponse | undefined {
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

/** A GET that waits for an answer of the upstream. */
class AwaitedRead implements Waiter<CachedRead> {
  readonly #responder: Pick<GetResponder, 'respondWith'>;
  readonly #guarded: GuardedRequest;
  readonly #conditions: Conditions;
  readonly #pastSlot: Slot | undefined;
  readonly #clock: Clock;
  readonly #startedMs: number;

  constructor(
    responder: Pick<GetResponder, 'respondWith'>,
    guarded: GuardedRequest,
    conditions: Conditions,
    pastSlot: Slot | undefined,
    clock: Clock,
  ) {
    this.#responder = responder;
    this.#guarded = guarded;
    this.#conditions = conditions;
    this.#pastSlot = pastSlot;
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  resolve({ entry, cacheStatus }: CachedRead): void {
    const upstreamMs = this.#clock.monotonic() - this.#startedMs;
    const read = { entry, cacheStatus, pastSlot: this.#pastSlot, upstreamMs };
    this.#guarded.sendMade(() => this.#responder.respondWith(read, this.#guarded, this.#conditions));
  }

  reject(thrown: unknown): void {
    this.#guarded.fail(thrown);
  }
}
