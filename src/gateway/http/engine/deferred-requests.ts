import type { EngineRequest, EngineResponse } from './engine.ts';

const REQUESTS_PER_TURN = 64;

/** Returns a copy of a request: the engine reuses its own when the handler returns. */
function copyOf(req: EngineRequest): EngineRequest {
  const [method, url, query] = [req.getMethod(), req.getUrl(), req.getQuery()];
  const headers: (readonly [name: string, value: string])[] = [];
  req.forEach((name, value) => void headers.push([name, value]));
  return {
    getMethod: () => method,
    getUrl: () => url,
    getQuery: () => query,
    getHeader: (wanted) => headers.find(([name]) => name === wanted)?.[1] ?? '',
    forEach(visit) {
      for (const [name, value] of headers) visit(name, value);
    },
  };
}

type Handler = (res: EngineResponse, req: EngineRequest) => unknown;

interface DeferredRequest {
  readonly handler: Handler;
  readonly res: EngineResponse;
  readonly req: EngineRequest;
}

/** Until the later turn the response is pending: uWebSockets.js closes a connection with another request behind it. */
export class DeferredRequests {
  readonly #deferred = new Set<DeferredRequest>();

  defer(handler: Handler, res: EngineResponse, req: EngineRequest): void {
    const deferred = { handler, res, req: copyOf(req) };
    if (this.#deferred.size === 0) setTimeout(this.#handleNext, 0);
    this.#deferred.add(deferred);
    res.onAborted(() => this.#deferred.delete(deferred));
  }

  readonly #handleNext = (): void => {
    let left = REQUESTS_PER_TURN;
    for (const deferred of this.#deferred) {
      this.#deferred.delete(deferred);
      deferred.handler(deferred.res, deferred.req);
      if (--left === 0) break;
    }
    if (this.#deferred.size > 0) setTimeout(this.#handleNext, 0);
  };
}
