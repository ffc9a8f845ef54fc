import type { HttpRequest } from 'uWebSockets.js';

/** Why a request is refused before anything reads it: its framing could mean two things. */
export type FramingFault = string;

const HOST_PATTERN = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(:\d{0,5})?$/;
const CONTENT_LENGTH_PATTERN = /^\d{1,15}$/;
const TARGET_PATTERN = /^[\x21\x22\x24-\x7e]*$/; // no control, no blank, no '#', no eight-bit character

/** What a GET is for the hot path: to be answered there, only for who sent it, or to be judged by the guard. */
export type RequestClass = 'plain' | 'special' | 'odd';

/**
 * Tells in one walk over the header lines what a GET is. The engine shows only the first of equal headers when asked for
 * one, and a walk costs no more than asking for the few that matter here.
 */
export class RequestClassifier {
  #requestClass: RequestClass = 'odd';
  #hasCredentials = false;
  #hostCount = 0;
  /** The last one that was valid: nearly all callers send the same. */
  #lastValidHost = '';

  readonly #onHeader = (name: string, value: string): void => {
    switch (name) {
      case 'host':
        this.#checkHost(value);
        break;
      case '':
      case 'content-length':
      case 'transfer-encoding':
        this.#requestClass = 'odd';
        break;
      case 'connection':
        if (value !== 'keep-alive') this.#requestClass = 'odd';
        break;
      case 'x-receipt-nonce':
      case 'if-none-match':
      case 'x-min-slot':
        if (this.#requestClass === 'plain') this.#requestClass = 'special'; // a plain hit doesn't know of these
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
    else this.#requestClass = 'odd';
  }

  classify(req: HttpRequest): RequestClass {
    this.#requestClass = 'plain';
    this.#hasCredentials = false;
    this.#hostCount = 0;
    req.forEach(this.#onHeader);
    return this.#hostCount === 1 ? this.#requestClass : 'odd';
  }

  /** True when the last one that was looked at says whose it is; else it counts for its address. */
  get hasCredentials(): boolean {
    return this.#hasCredentials;
  }
}

/**
 * Looks at every header line: exactly one Host, at most one Content-Length and one Transfer-Encoding, never both
 * (RFC 9112 3.2, 6.1, 6.3). The engine's own parser accepts requests that two servers would frame differently.
 */
export function findFramingFault(req: HttpRequest, allowsBody: boolean): FramingFault | undefined {
  const hosts: string[] = [];
  const lengths: string[] = [];
  const codings: string[] = [];
  let hasNamelessHeader = false;
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') codings.push(value);
    else if (name === 'host') hosts.push(value);
    else if (name === '') hasNamelessHeader = true;
  });
  const [host = ''] = hosts;
  const [length = '0'] = lengths;
  if (hasNamelessHeader) return 'a header has no name';
  if (hosts.length !== 1 || !HOST_PATTERN.test(host)) return 'exactly one valid Host header is needed';
  if (lengths.length + codings.length > 1) return 'the length of the body is given more than once';
  if (!CONTENT_LENGTH_PATTERN.test(length)) return 'Content-Length is not a number';
  if (codings.some((coding) => coding.toLowerCase() !== 'chunked')) return 'only chunked transfer coding is known';
  if (!allowsBody && (codings.length > 0 || Number(length) > 0)) return 'this method takes no body';
  if (!TARGET_PATTERN.test(req.getUrl()) || !TARGET_PATTERN.test(req.getQuery() ?? ''))
    return 'the request target has a character that must be escaped';
  return undefined;
}

/**
 * True when nothing that comes behind a request may be read as another one: the client said that it is its last
 * (RFC 9112 9.6), or it is not sure where the body ends. The engine takes chunks that others would refuse, and a POST
 * of no length may have one that the engine has overlooked.
 */
export function isLastOnConnection(req: HttpRequest, allowsBody: boolean): boolean {
  let [closes, isChunked, isSized] = [false, false, false];
  req.forEach((name, value) => {
    if (name === 'connection') closes ||= /(^|,)\s*close\s*(,|$)/i.test(value);
    else if (name === 'transfer-encoding') isChunked = true;
    else if (name === 'content-length') isSized = true;
  });
  return closes || isChunked || (allowsBody && !isSized);
}

/** Path and query, as the caller spelled them. */
export function requestTargetOf(req: HttpRequest): string {
  const query = req.getQuery();
  return query ? `${req.getUrl()}?${query}` : req.getUrl();
}
