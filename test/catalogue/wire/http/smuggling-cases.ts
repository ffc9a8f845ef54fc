import { CALL, CHUNKED, chunks, get, post, request } from './raw-request.ts';

/** Request in the place of a body, which must never be answered. */
const INNER_REQUEST = get();
const LENGTH = `Content-Length: ${CALL.length + INNER_REQUEST.length}`;
const SHORT = `Content-Length: ${CALL.length}`;

const coded = (...headers: readonly string[]): string => post(...headers) + chunks(CALL) + INNER_REQUEST;
const sized = (...headers: readonly string[]): string => post(...headers) + CALL + INNER_REQUEST;
const inChunks = (body: string): string => post(CHUNKED) + body + INNER_REQUEST;
const HEX = CALL.length.toString(16);

/** Messages whose end two servers could see at different places, each with a request after the nearer end. */
export const SMUGGLED_REQUESTS: Readonly<Record<string, string>> = {
  'CL.CL, the longer last': sized(SHORT, LENGTH),
  'CL.CL, the longer first': sized(LENGTH, SHORT),
  'CL.CL, equal': sized(SHORT, SHORT),
  'CL.CL, far apart': sized(SHORT, 'X-Other: a', LENGTH),
  'CL.CL in a list': sized(`${SHORT}, ${CALL.length + INNER_REQUEST.length}`),
  'CL.TE': coded('Content-Length: 4', CHUNKED),
  'TE.CL': coded(CHUNKED, 'Content-Length: 4'),
  'CL.TE, a length of 0': coded('Content-Length: 0', CHUNKED),
  'TE.CL, the whole length': coded(CHUNKED, LENGTH),
  'TE.TE, the second unknown': coded(CHUNKED, 'Transfer-Encoding: x'),
  'TE.TE, the first unknown': coded('Transfer-Encoding: x', CHUNKED),
  'TE.TE, equal': coded(CHUNKED, CHUNKED),
  'TE in a list': coded('Transfer-Encoding: identity, chunked'),
  'TE that only looks like it': coded('Transfer-Encoding: xchunked', SHORT),
  'TE with a tab': coded('Transfer-Encoding:\tchunked', SHORT),
  'TE with a control': coded('Transfer-Encoding: \x0bchunked', SHORT),
  'TE in quotes': coded('Transfer-Encoding: "chunked"', SHORT),
  'TE with a blank before the colon': coded('Transfer-Encoding : chunked', SHORT),
  'TE in the next line': coded('Transfer-Encoding:', ' chunked', SHORT),
  'TE behind a line that goes on': coded('X-Other: a', ` ${CHUNKED}`, SHORT),
  'TE behind LF alone': coded(`X-Other: a\n${CHUNKED}`, SHORT),
  'TE behind CR alone': coded(`X-Other: a\r${CHUNKED}`, SHORT),
  'TE behind NUL': coded(`X-Other: a\0\r\n${CHUNKED}`, SHORT),
  'CL with a sign': sized(`Content-Length: +${CALL.length}`),
  'CL with a blank before the colon': sized(`Content-Length : ${CALL.length}`),
  'CL in the next line': sized('Content-Length:', ` ${CALL.length}`),
  'CL behind a line without a name': sized(': a', LENGTH),
  'CL on GET': get(`Content-Length: ${INNER_REQUEST.length}`) + INNER_REQUEST,
  'TE on GET': get(CHUNKED) + chunks('x') + INNER_REQUEST,
  'CL.TE on HEAD': request('HEAD /api/v1/slot', 'Content-Length: 5', CHUNKED) + chunks('') + INNER_REQUEST,
  'CL.CL on OPTIONS': request('OPTIONS /api/v1/slot', 'Content-Length: 0', 'Content-Length: 9') + INNER_REQUEST,
  'CL on DELETE': request('DELETE /api/v1/slot', `Content-Length: ${INNER_REQUEST.length}`) + INNER_REQUEST,
  'a chunk size with an extension': inChunks(`${HEX};a\r\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size with an extension that ends in LF': inChunks(`${HEX};\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size that ends in LF': inChunks(`${HEX}\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size that ends in CR': inChunks(`${HEX}\r${CALL}\r\n0\r\n\r\n`),
  'a chunk size behind a blank': inChunks(` ${HEX}\r\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size of 65 bits': inChunks(`1000000000000000${HEX}\r\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size of 33 bits': inChunks(`1000000${HEX}\r\n${CALL}\r\n0\r\n\r\n`),
  'a chunk size with 0x': inChunks(`0x${HEX}\r\n${CALL}\r\n0\r\n\r\n`),
  'a chunk that is longer than its size': inChunks(`${HEX}\r\n${CALL}xx0\r\n\r\n`),
  'a chunk without an end': inChunks(`${HEX}\r\n${CALL}0\r\n\r\n`),
  'a last chunk without an end': inChunks(`${HEX}\r\n${CALL}\r\n0\r\n`),
  'a last chunk with a trailer': inChunks(`${HEX}\r\n${CALL}\r\n0\r\nContent-Length: 3\r\n\r\n`),
  'two hosts': get('Host: other.example') + INNER_REQUEST,
  'a request behind the last one': get('Connection: close') + INNER_REQUEST,
};

/**
 * A field line without a name ends the engine's list of headers and hides what follows. On POST the gateway closes; a
 * GET is answered, and so is the request inside it. Proxies refuse such a line: see the row `nameless-header`.
 */
export const HIDDEN_BODY_REQUEST = get(': a', `Content-Length: ${INNER_REQUEST.length}`) + INNER_REQUEST;
