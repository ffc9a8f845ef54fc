import { exchange, parseResponses } from '../../../support/raw-http.ts';
import { expectNone, info } from '../../findings.ts';
import { call, get, post, request } from '../http/raw-request.ts';
import type { WireRow } from '../wire-row.ts';

/** Spellings of a line end. */
const LINE_ENDS = [
  '\r\n',
  '\n',
  '\r',
  '%0d%0a',
  '%0a',
  '%250d%250a',
  '\\r\\n',
  '\u560d\u560a',
  '\u2028',
  '\0',
  '\x0b',
  '\x85',
];

const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

/** Places from which the gateway might copy a caller's text. */
const INJECTION_POINTS: readonly ((text: string) => string)[] = [
  (text) => request(`GET /api/v1/${text}`),
  (text) => request(`GET /api/v1/balance/${text}`),
  (text) => request(`GET /api/v1/slot?${text}=${text}`),
  (text) => request(`GET /api/v1/search?q=${text}`),
  (text) => request(`OPTIONS /api/v1/slot`, `Origin: ${text}`, `Access-Control-Request-Headers: ${text}`),
  (text) => get(`Origin: ${text}`),
  (text) => get(`X-Request-Id: ${text}`),
  (text) => get(`X-Receipt-Nonce: ${text}`),
  (text) => get(`If-None-Match: "${text}"`),
  (text) => get(`X-Min-Slot: ${text}`),
  (text) => get(`Accept-Encoding: ${text}`),
  (text) => get(`X-Api-Key: ${text}`),
  (text) => get(`X-Forwarded-For: ${text}`),
  (text) => call(`X-Request-Id: ${text}`),
  (text) => post(`Content-Length: ${Buffer.byteLength(text)}`) + text,
  (text) => request('GET /api/v1/stream', ...WEBSOCKET, KEY, `Sec-WebSocket-Protocol: ${text}`),
  (text) => request('GET /api/v1/stream', ...WEBSOCKET, KEY, `Sec-WebSocket-Extensions: ${text}`),
  (text) => request(`GET /api/v1/stream?format=${text}`, ...WEBSOCKET, KEY),
];

const MARK = 'X-Injected';

export const headerInjection: WireRow = {
  id: '8',
  title: 'line ends in every value that might be copied into a header',
  async run({ url }) {
    const packets = INJECTION_POINTS.flatMap((place) => LINE_ENDS.map((end) => place(`a${end}${MARK}: yes${end}`)));
    const exchanges = await Promise.all(
      packets.map((packet) => exchange(url, [Buffer.from(packet)], { responses: 0 })),
    );
    let [answers, marked] = [0, 0];
    for (const [i, { text }] of exchanges.entries()) {
      const heads = text === '' ? [] : parseResponses(text).map(({ head }) => head);
      answers += heads.length;
      if (heads.some((head) => head.toLowerCase().includes(MARK.toLowerCase()))) {
        marked++;
        console.error(`   ${JSON.stringify(packets[i])}`);
      }
    }
    return [info('sent', packets.length), info('answers', answers), expectNone('headers of the caller', marked)];
  },
};
