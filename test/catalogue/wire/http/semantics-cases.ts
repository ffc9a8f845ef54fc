import { answers, type ExpectedExchange, matching, section, statuses } from './http-case.ts';
import { CALL, call, get, post, request } from './raw-request.ts';

const head = section('9110 9.3.2');
const options = section('9110 9.3.7');
const status = section('9110 15.5');
const date = section('9110 6.6.1');
const match = section('9110 13.1.2');
const coding = section('9110 12.5.3');

/** Expects one answer of this status without a body. */
const bodiless = (expected: number): ExpectedExchange => ({
  responses: 1,
  holds: (exchanged) => statuses(exchanged).join() === String(expected) && exchanged.text.endsWith('\r\n\r\n'),
});
const dated = (expected: number): ExpectedExchange =>
  matching(expected, /\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/i);
const plain = (expected: number): ExpectedExchange => matching(expected, /^(?!.*\r\ncontent-encoding:)/is);
const LARGE = 'GET /api/v1/openapi.json';
const EPOCH = 'GET /api/v1/epoch';

export const SEMANTICS_CASES = [
  head('MUST', 'HEAD has no body', request('HEAD /api/v1/slot'), bodiless(200)),
  head('MUST', 'HEAD of an error has no body', request('HEAD /api/v1/no'), bodiless(404)),
  head('SHOULD', 'HEAD has the length', request('HEAD /api/v1/slot'), matching(200, /\r\ncontent-length: [1-9]/i)),
  options('SHOULD', 'OPTIONS has the methods', request('OPTIONS /api/v1/slot'), matching(204, /\r\nallow: GET, HEAD/i)),
  section('9110 8.6')(
    'MUST',
    'no length with 204',
    request('OPTIONS /api/v1/slot'),
    matching(204, /^(?!.*\r\ncontent-length:)/is),
  ),
  status('MUST', '405 has the methods', request('DELETE /api/v1/slot'), matching(405, /\r\nallow: GET, HEAD/i)),
  status('MUST', '426 has the protocol', request('GET /api/v1/stream'), matching(426, /\r\nupgrade: websocket/i)),
  status(
    'SHOULD',
    '415 for another type',
    `${post('Content-Length: 1').replace('application/json', 'text/xml')}x`,
    answers(415),
  ),
  status('SHOULD', '413 for a long body', post('Content-Length: 70000') + 'x'.repeat(70_000), answers(413)),
  date('MUST', 'a date with 200', get(), dated(200)),
  date('MUST', 'a date with 404', request('GET /api/v1/no'), dated(404)),
  date('MUST', 'a date with 204', request('OPTIONS /api/v1/slot'), dated(204)),
  match('MUST', 'the tag that is there', get('If-None-Match: *'), bodiless(304)),
  match('MUST', 'another tag', get('If-None-Match: "other"'), answers(200)),
  match('MUST', '304 has the tag', request(EPOCH, 'If-None-Match: *'), matching(304, /\r\netag: W\/"/i)),
  section('9110 13.2.1')('MUST', 'a condition on a call', call('If-None-Match: *'), answers(200)),
  section('9110 14.2')('MAY', 'a range', get('Range: bytes=0-1'), answers(200)),
  coding('SHOULD', 'gzip to a caller that accepts it', request(LARGE, 'Accept-Encoding: gzip'), answers(200)),
  coding('SHOULD', 'no gzip to one that refuses it', request(LARGE, 'Accept-Encoding: gzip;q=0, br;q=0'), plain(200)),
  coding('SHOULD', 'no coding for an empty list', request(LARGE, 'Accept-Encoding:'), plain(200)),
  section('9110 12.5.1')('MAY', 'a type that it does not have', get('Accept: text/html'), answers([200, 406])),
  section('9110 8.3')('MUST', 'the type of a body', get(), matching(200, /\r\ncontent-type: application\/json/i)),
  section('9110 9.3.3')(
    'MUST',
    'a POST that may not be there',
    request('POST /api/v1/slot', `Content-Length: ${CALL.length}`) + CALL,
    answers(405),
  ),
];
