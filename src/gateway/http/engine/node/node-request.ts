import type { IncomingMessage } from 'node:http';
import type { EngineRequest } from '../engine.ts';

/** Returns path and query of a target, which may be an absolute URL (RFC 9112 3.2.2) with a host (RFC 9110 4.2.1). */
function withoutOrigin(target: string): string {
  if (target.startsWith('/')) return target;
  const [origin = ''] = /^https?:\/\/[^/?#]+/i.exec(target) ?? [];
  const rest = target.slice(origin.length);
  return origin === '' || rest.startsWith('/') ? rest : `/${rest}`;
}

export class NodeRequest implements EngineRequest {
  readonly #message: IncomingMessage;
  readonly #target: string;
  /** The index of the first `?` in the target, or the target's length. */
  readonly #pathEnd: number;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.#target = withoutOrigin(message.url ?? '');
    const queryAt = this.#target.indexOf('?');
    this.#pathEnd = queryAt < 0 ? this.#target.length : queryAt;
  }

  getMethod(): string {
    return this.#message.method?.toLowerCase() ?? '';
  }

  getUrl(): string {
    return this.#target.slice(0, this.#pathEnd);
  }

  getQuery(): string {
    return this.#target.slice(this.#pathEnd + 1);
  }

  getHeader(name: string): string {
    const { rawHeaders } = this.#message;
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const raw = rawHeaders[i] ?? '';
      if (raw.length === name.length && raw.toLowerCase() === name) return rawHeaders[i + 1] ?? '';
    }
    return '';
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#message;
    for (let i = 0; i + 1 < rawHeaders.length; i += 2)
      visit((rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? '');
  }
}
