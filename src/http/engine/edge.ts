import type { HttpRequest } from 'uWebSockets.js';

/** Why a request is refused before anything reads it: its framing could mean two things. */
export type Fault = string;

const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(:\d{0,5})?$/;
const CONTENT_LENGTH = /^\d{1,15}$/;
const TARGET = /^[\x21\x22\x24-\x7e]*$/; // no control, no blank, no '#', no eight-bit character

/** What a GET is for the hot path: to be answered there, only for who sent it, or to be judged by the guard. */
export type Sight = 'plain' | 'special' | 'odd';

/**
 * Tells in one walk over the header lines what a GET is. The engine shows only the first of equal headers when asked for
 * one, and a walk costs no more than asking for the few that matter here.
 */
export class FirstLook {
  #sight: Sight = 'odd';
  #namesCaller = false;
  #hosts = 0;
  /** The last one that was valid: nearly all callers send the same. */
  #host = '';

  readonly #line = (name: string, value: string): void => {
    switch (name) {
      case 'host':
        this.#countHost(value);
        break;
      case '':
      case 'content-length':
      case 'transfer-encoding':
        this.#sight = 'odd';
        break;
      case 'connection':
        if (value !== 'keep-alive') this.#sight = 'odd';
        break;
      case 'x-receipt-nonce':
      case 'if-none-match':
      case 'x-min-slot':
        if (this.#sight === 'plain') this.#sight = 'special'; // a plain hit doesn't know of these
        break;
      case 'x-api-key':
      case 'x-stake-wallet':
        this.#namesCaller = true;
    }
  };

  #countHost(host: string): void {
    this.#hosts++;
    if (host === this.#host) return;
    if (HOST.test(host)) this.#host = host;
    else this.#sight = 'odd';
  }

  at(req: HttpRequest): Sight {
    this.#sight = 'plain';
    this.#namesCaller = false;
    this.#hosts = 0;
    req.forEach(this.#line);
    return this.#hosts === 1 ? this.#sight : 'odd';
  }

  /** True when the last one that was looked at says whose it is; else it counts for its address. */
  get namesCaller(): boolean {
    return this.#namesCaller;
  }
}

/**
 * Looks at every header line: exactly one Host, at most one Content-Length and one Transfer-Encoding, never both
 * (RFC 9112 3.2, 6.1, 6.3). The engine's own parser accepts requests that two servers would frame differently.
 */
export function framingFault(req: HttpRequest, takesBody: boolean): Fault | undefined {
  const hosts: string[] = [];
  const lengths: string[] = [];
  const codings: string[] = [];
  let nameless = false;
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') codings.push(value);
    else if (name === 'host') hosts.push(value);
    else if (name === '') nameless = true;
  });
  const [host = ''] = hosts;
  const [length = '0'] = lengths;
  if (nameless) return 'a header has no name';
  if (hosts.length !== 1 || !HOST.test(host)) return 'exactly one valid Host header is needed';
  if (lengths.length + codings.length > 1) return 'the length of the body is given more than once';
  if (!CONTENT_LENGTH.test(length)) return 'Content-Length is not a number';
  if (codings.some((coding) => coding.toLowerCase() !== 'chunked')) return 'only chunked transfer coding is known';
  if (!takesBody && (codings.length > 0 || Number(length) > 0)) return 'this method takes no body';
  if (!TARGET.test(req.getUrl()) || !TARGET.test(req.getQuery() ?? ''))
    return 'the request target has a character that must be escaped';
  return undefined;
}

/**
 * True when nothing that comes behind a request may be read as another one: the client said that it is its last
 * (RFC 9112 9.6), or it is not sure where the body ends. The engine takes chunks that others would refuse, and a POST
 * of no length may have one that the engine has overlooked.
 */
export function isLast(req: HttpRequest, takesBody: boolean): boolean {
  let [closes, isChunked, isSized] = [false, false, false];
  req.forEach((name, value) => {
    if (name === 'connection') closes ||= /(^|,)\s*close\s*(,|$)/i.test(value);
    else if (name === 'transfer-encoding') isChunked = true;
    else if (name === 'content-length') isSized = true;
  });
  return closes || isChunked || (takesBody && !isSized);
}

/** Path and query, as the caller spelled them. */
export function targetOf(req: HttpRequest): string {
  const query = req.getQuery();
  return query ? `${req.getUrl()}?${query}` : req.getUrl();
}
