import type { EngineRequest } from './engine.ts';

/** The reason to refuse a request before anything reads it: two servers could frame it differently. */
export type FramingFault = string;

const HOST_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(:\d{0,5})?$/;
const CONTENT_LENGTH_PATTERN = /^\d{1,15}$/;
const TARGET_PATTERN = /^[\x21\x22\x24-\x7e]*$/; // no control character, no blank, no '#', no eight-bit character

/** `plain`: from the cache. `conditional`: with a nonce, minimum slot or known result. `unsafe`: to the full guard. */
export type RequestClass = 'plain' | 'conditional' | 'unsafe';

/**
 * Classifies GETs in one walk over their header lines. The engine's `getHeader` returns only the first of equal headers,
 * and one walk costs no more than looking up the few headers that matter here.
 */
export class RequestClassifier {
  #requestClass: RequestClass = 'unsafe';
  #hasCredentials = false;
  #hostCount = 0;
  #tagLines = 0;
  /** The last valid Host: nearly all callers send the same one. */
  #lastValidHost = '';

  readonly #onHeader = (name: string, value: string): void => {
    switch (name) {
      case 'host':
        this.#checkHost(value);
        break;
      case '':
      case 'content-length':
      case 'transfer-encoding':
        this.#requestClass = 'unsafe';
        break;
      case 'connection':
        if (value.toLowerCase() !== 'keep-alive') this.#requestClass = 'unsafe';
        break;
      case 'x-receipt-nonce':
      case 'if-none-match':
      case 'x-min-slot':
      case 'x-agree':
        if (this.#requestClass === 'plain') this.#requestClass = 'conditional';
        if (name === 'if-none-match' && this.#tagLines++ > 0) this.#requestClass = 'unsafe'; // only the full guard joins them
        break;
      case 'x-api-key':
      case 'x-stake-wallet':
        this.#hasCredentials = true;
    }
  };

  #checkHost(host: string): void {
    this.#hostCount++;
    if (host === this.#lastValidHost) return;
    if (HOST_PATTERN.test(host)) this.#lastValidHost = host;
    else this.#requestClass = 'unsafe';
  }

  classify(req: EngineRequest): RequestClass {
    this.#requestClass = 'plain';
    this.#hasCredentials = false;
    this.#hostCount = 0;
    this.#tagLines = 0;
    req.forEach(this.#onHeader);
    return this.#hostCount === 1 ? this.#requestClass : 'unsafe';
  }

  /** True if the last classified request has nothing but its target that matters: no header of it needs another look. */
  get isPlain(): boolean {
    return this.#hostCount === 1 && this.#requestClass === 'plain' && !this.#hasCredentials;
  }

  /** True if the last classified request has credentials; otherwise it counts for its address. */
  get hasCredentials(): boolean {
    return this.#hasCredentials;
  }
}

/** How a request is framed, as far as other servers could frame it differently. */
export interface Framing {
  readonly fault: FramingFault | undefined;
  /**
   * True if no bytes behind the request may be read as another one: the client closes (RFC 9112 9.6), or the end of the body
   * is uncertain. The engine accepts chunks that other servers refuse, and a POST without a length may have one that the
   * engine has overlooked.
   */
  readonly isLast: boolean;
}

/** RFC 9112 3.2, 6.1, 6.3. The engine's own parser accepts requests that two servers would frame differently. */
export function framingOf(req: EngineRequest, allowsBody: boolean): Framing {
  let [host, length, coding] = ['', '0', 'chunked'];
  let [hosts, lengths, codings] = [0, 0, 0];
  let [hasNamelessHeader, closes] = [false, false];
  req.forEach((name, value) => {
    if (name === 'host') [host, hosts] = [value, hosts + 1];
    else if (name === 'content-length') [length, lengths] = [value, lengths + 1];
    else if (name === 'transfer-encoding') [coding, codings] = [value, codings + 1];
    else if (name === 'connection') closes ||= /(^|,)\s*close\s*(,|$)/i.test(value);
    else if (name === '') hasNamelessHeader = true;
  });
  const faultOf = (): FramingFault | undefined => {
    if (hasNamelessHeader) return 'a header line has no name';
    if (hosts !== 1 || !HOST_PATTERN.test(host)) return 'send exactly one valid Host header';
    if (lengths + codings > 1)
      return 'the length of the body is given more than once: send one Content-Length or one Transfer-Encoding';
    if (!CONTENT_LENGTH_PATTERN.test(length)) return 'Content-Length is not a number';
    if (coding.toLowerCase() !== 'chunked') return 'chunked is the only transfer coding that is supported';
    if (!allowsBody && (codings > 0 || Number(length) > 0)) return 'a request with this method must have no body';
    return targetFaultOf(req.getUrl(), req.getQuery());
  };
  return { fault: faultOf(), isLast: closes || codings > 0 || (allowsBody && lengths === 0) };
}

/** The framing of a request that {@link RequestClassifier.isPlain} is true of. */
export const plainFramingOf = (req: EngineRequest, path: string): Framing => ({
  fault: targetFaultOf(path, req.getQuery()),
  isLast: false,
});

const targetFaultOf = (path: string, query = ''): FramingFault | undefined =>
  TARGET_PATTERN.test(path) && TARGET_PATTERN.test(query)
    ? undefined
    : 'the request target has a character that must be escaped';

export function requestTargetOf(req: EngineRequest): string {
  const query = req.getQuery();
  return query ? `${req.getUrl()}?${query}` : req.getUrl();
}
