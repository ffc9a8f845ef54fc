import { answers, endsAfter, endsAfterOne, refusal, section } from './http-case.ts';
import { CALL, call, get, post, request } from './raw-request.ts';

const persistence = section('9112 9.3');
const pipeline = section('9112 9.3.2');
const close = section('9112 9.6');
const expect = section('9110 10.1.1');

export const CONNECTION_CASES = [
  persistence('SHOULD', 'a request behind an answer', [get(), get()], answers(200, 200)),
  persistence('SHOULD', 'a request behind a refusal', [request('GET /api/v1/no'), get()], answers(404, 200)),
  pipeline(
    'MUST',
    'three requests in one packet',
    get() + request('GET /api/v1/epoch') + get(),
    answers(200, 200, 200),
  ),
  close('MUST', 'Connection: close', get('Connection: close'), endsAfter(200)),
  close('MUST', 'Connection: Close', get('Connection: Close'), endsAfter(200)),
  close('MUST', 'close in a list', get('Connection: keep-alive, close'), endsAfter(200)),
  close('MUST', 'a request behind the last one', get('Connection: close') + get(), endsAfterOne),
  close('SHOULD', 'the last answer says so', get('Connection: close'), {
    responses: 1,
    holds: ({ text }) => /\r\nconnection: close\r\n/i.test(text),
  }),
  expect('MUST', 'a body that waits for 100', [post(`Content-Length: ${CALL.length}`, 'Expect: 100-continue')], {
    responses: 1,
    holds: ({ text }) => /^HTTP\/1\.1 (100|4\d\d)/.test(text),
  }),
  expect('MUST', 'a body that came without 100', call('Expect: 100-continue'), {
    responses: 1,
    holds: ({ text }) => /HTTP\/1\.1 200/.test(text),
  }),
  section('9110 7.8')(
    'MAY',
    'an upgrade to what nobody speaks',
    get('Connection: Upgrade', 'Upgrade: h2c'),
    answers(200),
  ),
  section('9112 6.3')('MUST', 'a body that ends before its length', post('Content-Length: 21') + CALL, {
    responses: 0,
    holds: ({ text }) => text === '',
  }),
  section('9112 9.6')('MUST', 'what follows a refused message', `${post('Content-Length: x')}${get()}`, refusal),
];
