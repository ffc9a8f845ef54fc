import { addressOfNumber } from '../../../support/address-of-number.ts';
import { frame, OP } from '../../../support/websocket-frame.ts';
import { HANDSHAKE_HEADERS } from '../../../support/websocket-peer.ts';
import { CALL, CHUNKED, call, chunks, post, request } from './raw-request.ts';

export interface ValidRequest {
  readonly title: string;
  /** What is sent, in order: a part that waits for the answer to the one before stands alone. */
  readonly parts: readonly Buffer[];
  readonly responses: number;
}

/** 33 addresses make a request line of 1,447 bytes, about a segment of Ethernet; 40 are the most that are accepted. */
const ADDRESS_COUNTS = [33, 40];

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

const single = (title: string, text: string): ValidRequest => ({ title, parts: [bytes(text)], responses: 1 });

const pipelined = (title: string, ...texts: readonly string[]): ValidRequest => ({
  title,
  parts: [bytes(texts.join(''))],
  responses: texts.length,
});

/** Answered while it is read, always: uWebSockets.js cuts off what is pipelined behind another. */
const GET_PUBKEY = request('GET /api/v1/pubkey');

/** The header lines of the handshake, but for the host. */
const HANDSHAKE_LINES = Object.entries(HANDSHAKE_HEADERS).flatMap(([name, value]) =>
  name === 'Host' ? [] : [`${name}: ${value}`],
);

export const VALID_REQUESTS: readonly ValidRequest[] = [
  single('GET', request('GET /api/v1/slot')),
  single('GET with a query', request('GET /api/v1/epoch?commitment=processed', 'Accept: application/json')),
  single('GET of a path that nobody serves', request('GET /api/v2/none')),
  ...ADDRESS_COUNTS.map((count) =>
    single(
      `GET of ${count} balances`,
      request(`GET /api/v1/balances?addresses=${Array.from({ length: count }, (_, i) => addressOfNumber(i)).join()}`),
    ),
  ),
  single('HEAD', request('HEAD /api/v1/slot')),
  single('HEAD of the shortest path', request('HEAD /')),
  single('OPTIONS', request('OPTIONS /api/v1/rpc', 'Origin: https://a.example')),
  single('DELETE', request('DELETE /api/v1/slot')),
  single('POST', call()),
  single('POST in chunks', post(CHUNKED) + chunks(CALL.slice(0, 9), CALL.slice(9))),
  pipelined('two pipelined GETs', GET_PUBKEY, GET_PUBKEY),
  pipelined('a GET and a POST, pipelined', GET_PUBKEY, call()),
  {
    title: 'an upgrade and a ping',
    parts: [bytes(request('GET /api/v1/stream', ...HANDSHAKE_LINES)), frame(OP.ping, 'a ping of the catalogue')],
    responses: 1,
  },
];
