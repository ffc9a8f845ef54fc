import { answers, endsAfter, matching, noSuccess, refusal, section } from './http-case.ts';
import { get, post, request } from './raw-request.ts';

const version = section('9112 2.3');
const line = section('9112 3');
const target = section('9112 3.2');
const host = section('9112 3.2');
const method = section('9110 9.1');
const withHost = (value: string): string => `GET /api/v1/slot HTTP/1.1\r\nHost: ${value}\r\n\r\n`;
const asVersion = (text: string): string => `GET /api/v1/slot ${text}\r\nHost: a\r\n\r\n`;

export const REQUEST_LINE_CASES = [
  line('MUST', 'a request in plain form', get(), answers(200)),
  line('SHOULD', 'an empty line before it', `\r\n${get()}`, answers(200)),
  line('MAY', 'lines that end in LF alone', 'GET /api/v1/slot HTTP/1.1\nHost: a\n\n', noSuccess),
  line('MUST', 'a blank before the first header', 'GET /api/v1/slot HTTP/1.1\r\n Host: a\r\n\r\n', noSuccess),
  line('MUST', 'CR inside the target', request('GET /api/v1/sl\rot'), noSuccess),
  line('MUST', 'NUL inside the target', request('GET /api/v1/slot\0'), noSuccess),
  line('SHOULD', 'a blank inside the target', request('GET /api/v1/slot ?x'), noSuccess),
  line('SHOULD', 'two blanks', request('GET  /api/v1/slot'), noSuccess),
  line('SHOULD', 'a tab for the blank', request('GET\t/api/v1/slot'), noSuccess),
  line('MUST', 'no target', request('GET'), noSuccess),
  line('MUST', 'no method', request('/api/v1/slot'), noSuccess),
  line('MUST', 'no version', 'GET /api/v1/slot\r\nHost: a\r\n\r\n', noSuccess),
  line('SHOULD', 'a target of 8,000 octets', request(`GET /api/v1/slot?${'x'.repeat(8000)}`), answers([400, 414])),
  line('MUST', 'a target of 64 KiB', request(`GET /api/v1/slot?${'x'.repeat(65_536)}`), refusal),
  version('MUST', 'http in small letters', asVersion('http/1.1'), noSuccess),
  version('MUST', 'a minor version of two digits', asVersion('HTTP/1.10'), noSuccess),
  version('MUST', 'no minor version', asVersion('HTTP/1.'), noSuccess),
  version('MUST', 'a version without a point', asVersion('HTTP/11'), noSuccess),
  version('SHOULD', 'version 2.0', asVersion('HTTP/2.0'), noSuccess),
  version('MUST', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', noSuccess),
  target('MUST', 'a target that is a whole URL', request('GET http://a/api/v1/slot'), answers(200)),
  target('MUST', 'a target without a slash', request('GET api/v1/slot'), noSuccess),
  target('MUST', 'an asterisk with OPTIONS', request('OPTIONS *'), answers([200, 204])),
  target('MUST', 'an asterisk with GET', request('GET *'), noSuccess),
  target('MUST', 'CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', noSuccess),
  target('SHOULD', 'an eight-bit character', Buffer.from(request('GET /api/v1/caf\xe9'), 'latin1'), noSuccess),
  target('SHOULD', 'a fragment', request('GET /api/v1/slot#x'), noSuccess),
  host('MUST', 'no host', 'GET /api/v1/slot HTTP/1.1\r\nAccept: */*\r\n\r\n', refusal),
  host('MUST', 'two hosts', get('Host: b'), endsAfter(400)),
  host('MUST', 'the host twice', get('Host: gateway.example'), endsAfter(400)),
  host('MUST', 'two hosts on POST', post('Host: b', 'Content-Length: 0'), endsAfter(400)),
  host('MUST', 'a blank in the host', withHost('a b'), endsAfter(400)),
  host('MUST', 'a path in the host', withHost('a/b'), endsAfter(400)),
  host('MUST', 'a user in the host', withHost('a@b'), endsAfter(400)),
  host('MUST', 'a list of hosts', withHost('a, b'), endsAfter(400)),
  host('MUST', 'a port that is no number', withHost('a:b'), endsAfter(400)),
  host('MUST', 'a bracket that stays open', withHost('[::1'), endsAfter(400)),
  host('MUST', 'an address in brackets', withHost('[::1]:80'), answers(200)),
  method('MUST', 'a method in small letters', request('get /api/v1/slot'), noSuccess),
  method('SHOULD', 'a method that nobody knows', request('BREW /api/v1/slot'), matching(501, /./)),
  method('SHOULD', 'TRACE', request('TRACE /api/v1/slot', 'X-Secret: s'), matching(405, /^(?!.*x-secret: s)/is)),
  method('MUST', 'a blank in the method', request('GE T /api/v1/slot'), noSuccess),
];
