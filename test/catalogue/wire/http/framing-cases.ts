import { answers, endsAfter, noSuccess, refusal, section } from './http-case.ts';
import { CALL, CHUNKED, call, chunks, get, post, request } from './raw-request.ts';

const length = section('9110 8.6');
const both = section('9112 6.1');
const coding = section('9112 6.1');
const end = section('9112 6.3');
const chunk = section('9112 7.1');

const sized = (value: string): string => post(`Content-Length: ${value}`) + CALL;
const coded = (value: string): string => post(`Transfer-Encoding: ${value}`) + chunks(CALL);
const inChunks = (body: string): string => post(CHUNKED) + body;
const HEX = CALL.length.toString(16);

export const FRAMING_CASES = [
  length('MUST', 'a body of the length that is said', call(), answers(200)),
  length('MUST', 'a call behind a call', [call(), call()], answers(200, 200)),
  length('MUST', 'a length of 0', post('Content-Length: 0'), answers(400)),
  length('MUST', 'a length with leading zeros', sized(`000${CALL.length}`), answers([200, 400])),
  ...['abc', '-20', '+20', '2 0', '0x14', '20,21', '2e1', '20;', '20.0', '18446744073709551636', '٢٠'].map((value) =>
    length('MUST', `a length of ${value}`, sized(value), refusal),
  ),
  length('MUST', 'an empty length', sized(''), noSuccess),
  length('MAY', 'the same length in a list', sized('20, 20'), noSuccess),
  length('MUST', 'two lengths that differ', post('Content-Length: 20', 'Content-Length: 21') + CALL, refusal),
  length('MUST', 'two lengths, the first of 0', post('Content-Length: 0', 'Content-Length: 20') + CALL, refusal),
  length(
    'MUST',
    'a length in small letters and one in large',
    post('content-length: 20', 'CONTENT-LENGTH: 5') + CALL,
    refusal,
  ),
  both('MUST', 'a length and chunks', post('Content-Length: 4', CHUNKED) + chunks(CALL), refusal),
  both('MUST', 'chunks and a length', post(CHUNKED, 'Content-Length: 4') + chunks(CALL), refusal),
  coding('MUST', 'a coding that is not the last', coded('chunked, gzip'), refusal),
  coding('MUST', 'chunked twice', coded('chunked, chunked'), refusal),
  coding('MUST', 'another coding before', coded('gzip, chunked'), refusal),
  coding('MUST', 'the coding in two lines', post(CHUNKED, CHUNKED) + chunks(CALL), refusal),
  coding('MUST', 'identity', coded('identity'), refusal),
  coding('MUST', 'a coding that only looks like it', coded('xchunked'), refusal),
  coding('MUST', 'a coding with a control', coded('\x0bchunked'), refusal),
  coding('SHOULD', 'a coding that nobody knows, by 501', coded('gzip'), endsAfter(501)),
  coding('MUST', 'the coding in any case', coded('ChUnKeD'), answers(200)),
  coding('MUST', 'chunks in HTTP/1.0', coded('chunked').replace('HTTP/1.1', 'HTTP/1.0'), refusal),
  end('MUST', 'neither: no body', post(), answers([400, 411])),
  end('MUST', 'a GET with a body is read to its end or closed', `${get('Content-Length: 4')}GET `, endsAfter(400)),
  end('MUST', 'a GET with chunks is read to its end or closed', get(CHUNKED) + chunks('GET '), endsAfter(400)),
  chunk('MUST', 'one chunk', inChunks(chunks(CALL)), answers(200)),
  chunk('MUST', 'a chunk for each byte', inChunks(chunks(...CALL)), answers(200)),
  chunk('MUST', 'a size with leading zeros', inChunks(`000${HEX}\r\n${CALL}\r\n0\r\n\r\n`), answers(200)),
  chunk(
    'MUST',
    'a size in large letters',
    inChunks(`A\r\n${CALL.slice(0, 10)}\r\nA\r\n${CALL.slice(10)}\r\n0\r\n\r\n`),
    answers(200),
  ),
  chunk('MUST', 'an extension', inChunks(`${HEX};a=b\r\n${CALL}\r\n0\r\n\r\n`), answers(200)),
  chunk('MUST', 'a trailer', inChunks(`${HEX}\r\n${CALL}\r\n0\r\nX-Other: a\r\n\r\n`), answers(200)),
  chunk('MUST', 'a size over 64 bits', inChunks(`1000000000000000${HEX}\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'a size over 32 bits', inChunks(`1000000${HEX}\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'a negative size', inChunks(`-${HEX}\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'a size with 0x', inChunks(`0x${HEX}\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'a size that is no number', inChunks(`g\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'a blank before the size', inChunks(` ${HEX}\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'an empty size', inChunks(`\r\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'more in a chunk than its size', inChunks(`${HEX}\r\n${CALL}xx0\r\n\r\n`), noSuccess),
  chunk('SHOULD', 'LF alone behind a size', inChunks(`${HEX}\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('SHOULD', 'LF in an extension', inChunks(`${HEX};\n${CALL}\r\n0\r\n\r\n`), noSuccess),
  chunk('MUST', 'HEAD with chunks', request('HEAD /api/v1/slot', CHUNKED) + chunks('x'), endsAfter(400)),
];
