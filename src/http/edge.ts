import type { HttpRequest } from 'uWebSockets.js';

/** Why a request is refused before anything reads it: its framing could mean two things. */
export type Fault = string;

const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]+)(:\d{0,5})?$/;
const CONTENT_LENGTH = /^\d{1,15}$/;
const TARGET = /^[\x21\x22\x24-\x7e]*$/; // no control, no blank, no '#', no eight-bit character

/** True for a GET that says nothing of a body, which is all but every one. The engine shows only the first of equal
 * headers, so even a length of 0 is odd: another may follow. */
export const isPlainGet = (req: HttpRequest): boolean =>
  req.getHeader('content-length') === '' && req.getHeader('transfer-encoding') === '';

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

/** A body whose end the client tells in chunks: its connection is closed behind the answer. */
export const isChunked = (req: HttpRequest): boolean => req.getHeader('transfer-encoding') !== '';
