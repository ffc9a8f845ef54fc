import type { EngineRequest, EngineResponse } from './engine.ts';

const REQUESTS_PER_TURN = 64;

/** A copy of a request: the engine reuses its own when the handler returns. */
class CopiedRequest implements EngineRequest {
  readonly #method: string;
  readonly #url: string;
  readonly #query: string | undefined;
  readonly #headers: (readonly [name: string, value: string])[] = [];

  constructor(req: EngineRequest) {
    this.#method = req.getMethod();
    this.#url = req.getUrl();
    this.#query = req.getQuery();
    req.forEach((name, value) => void this.#headers.push([name, value]));
  }

  getMethod(): string {
    return this.#method;
  }

  getUrl(): string {
    return this.#url;
  }

  getQuery(): string | undefined {
    return this.#query;
  }

  getHeader(name: string): string {
    return this.#headers.find(([each]) => each === name)?.[1] ?? '';
  }

  forEach(visit: (name: string, value: string) => void): void {
    for (const [name, value] of this.#headers) visit(name, value);
  }
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
    const deferred = { handler, res, req: new CopiedRequest(req) };
    if (this.#deferred.size === 0) this.#handleLater();
    this.#deferred.add(deferred);
    res.onAborted(() => this.#deferred.delete(deferred));
  }

  #handleLater(): void {
    setTimeout(() => this.#handleNext(), 0);
  }

  #handleNext(): void {
    let left = REQUESTS_PER_TURN;
    for (const deferred of this.#deferred) {
      this.#deferred.delete(deferred);
      deferred.handler(deferred.res, deferred.req);
      if (--left === 0) break;
    }
    if (this.#deferred.size > 0) this.#handleLater();
  }
}
