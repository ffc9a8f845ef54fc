import { answers, noSuccess, refusal, section } from './http-case.ts';
import { CALL, call, get, post, request } from './raw-request.ts';

const syntax = section('9112 5');
const colon = section('9112 5.1');
const fold = section('9112 5.2');
const value = section('9110 5.5');
const size = section('9110 5.4');

export const FIELD_CASES = [
  colon('MUST', 'a blank before the colon', get('X-Other : a'), noSuccess),
  colon('MUST', 'a tab before the colon', get('X-Other\t: a'), noSuccess),
  colon('MUST', 'a blank before the colon of the length', post(`Content-Length : ${CALL.length}`) + CALL, noSuccess),
  colon('MUST', 'a blank before the colon of the coding', `${post('Transfer-Encoding : chunked')}0\r\n\r\n`, noSuccess),
  colon('MUST', 'blanks around a value', call('X-Other:  \t a \t ').replace('Length: ', 'Length:  \t '), answers(200)),
  colon('MUST', 'no blank after the colon', call().replace(/: /g, ':'), answers(200)),
  syntax(
    'MUST',
    'names in any case',
    call().replace('Content-Length', 'cONTENT-lENGTH').replace('Host', 'hOST'),
    answers(200),
  ),
  syntax('SHOULD', 'a line without a colon', get('X-Other'), noSuccess),
  syntax('SHOULD', 'a line without a name', get(': a'), noSuccess),
  syntax('SHOULD', 'a blank in a name', get('X Other: a'), noSuccess),
  syntax('SHOULD', 'NUL in a name', get('X\0Other: a'), noSuccess),
  syntax('SHOULD', 'a bracket in a name', get('X(Other): a'), noSuccess),
  syntax('MAY', 'a name of one letter', get('X: a'), answers(200)),
  fold('MUST', 'a value that goes on in the next line', get('X-Other: a', ' b'), answers([200, 400])),
  fold('MUST', 'a coding that comes in the next line', `${post('Transfer-Encoding:', ' chunked')}0\r\n\r\n`, noSuccess),
  fold('MUST', 'a length that comes in the next line', post('Content-Length:', ` ${CALL.length}`) + CALL, noSuccess),
  value('MUST', 'CR in the host', 'GET /api/v1/slot HTTP/1.1\r\nHost: a\rb\r\n\r\n', noSuccess),
  value('MUST', 'NUL in the host', 'GET /api/v1/slot HTTP/1.1\r\nHost: a\0b\r\n\r\n', noSuccess),
  value('MUST', 'LF in the host', 'GET /api/v1/slot HTTP/1.1\r\nHost: a\nb\r\n\r\n', noSuccess),
  value('MUST', 'CR in a length', post('Content-Length: 2\r0') + CALL, noSuccess),
  value('MUST', 'NUL in a length', post('Content-Length: 20\0') + CALL, noSuccess),
  value(
    'SHOULD',
    'eight-bit characters in a value',
    Buffer.from(get('X-Other: caf\xe9'), 'latin1'),
    answers([200, 400]),
  ),
  size('MUST', 'a value of 64 KiB', get(`X-Other: ${'a'.repeat(65_536)}`), refusal),
  size('MUST', 'a thousand headers', get(...Array.from({ length: 1000 }, (_, i) => `X-${i}: a`)), refusal),
  size('SHOULD', 'a head of 12 KiB', get(`X-Other: ${'a'.repeat(12_000)}`), answers(200)),
  size('SHOULD', 'fifty headers', get(...Array.from({ length: 48 }, (_, i) => `X-${i}: a`)), answers(200)),
  section('9110 6.6.2')('MAY', 'a Trailer header', request('GET /api/v1/slot', 'Trailer: X'), answers(200)),
];
