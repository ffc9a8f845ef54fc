import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Quota } from '../../access/limits/rate-limiter.ts';
import type { Entry } from '../../cache/entry.ts';
import type { Slot } from '../../domain/slot.ts';

/** What browsers of any origin may read. */
const EXPOSED =
  'X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After,ETag,X-Slot,X-Cache,X-Request-Id,X-Receipt,' +
  'X-Rpc-Error-Code,X-Key-Succession';

const CORS = `Vary: Accept-Encoding, X-Receipt-Nonce\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;

/** What a preflight is told besides. */
export const PREFLIGHT: readonly Header[] = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS'],
  [
    'Access-Control-Allow-Headers',
    'content-type,x-api-key,x-min-slot,x-receipt-nonce,if-none-match,x-stake-wallet,x-stake-issued,x-stake-signature',
  ],
  ['Access-Control-Max-Age', '86400'],
];

export type Header = readonly [name: string, value: string];

const JSON_TYPE = 'application/json; charset=utf-8';

/** Names each response: eight digits of the process, eight that count. */
const process8 = randomBytes(4).toString('hex');
let requests = 0;
const nextRequest = (): number => {
  requests = (requests + 1) >>> 0;
  return requests;
};

/** A status line and headers for one response, as text. What `extra` holds was made by the gateway itself. */
export function headText(
  status: number,
  quota: Quota,
  extra: readonly Header[],
  type = JSON_TYPE,
): { text: string; requestId: string } {
  const requestId = process8 + nextRequest().toString(16).padStart(8, '0');
  let text = `${status} ${STATUS_CODES[status]}\r\nContent-Type: ${type}\r\n${quotaText(quota)}`;
  text += `\r\nX-Request-Id: ${requestId}\r\n${CORS}`;
  for (const [name, value] of extra) text += `\r\n${name}: ${value}`;
  return { text, requestId };
}

export const quotaHeaders = ({ limit, remaining, reset }: Quota): readonly Header[] => [
  ['X-RateLimit-Limit', String(limit)],
  ['X-RateLimit-Remaining', String(remaining)],
  ['X-RateLimit-Reset', String(reset)],
];

const quotaText = (quota: Quota): string =>
  quotaHeaders(quota)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');

/** A head of fixed length, in which only numbers change from one response to the next. */
interface Template {
  readonly bytes: Buffer;
  readonly limitEnd: number;
  readonly remainingEnd: number;
  readonly resetEnd: number;
  readonly slotEnd: number;
  readonly idEnd: number;
  readonly etagAt: number;
  limit: number;
  reset: number;
  slot: Slot;
  etag: string;
}

/** A weak validator: it names the result, whatever slot and receipt stand beside it. */
export const etagOf = (etag: string): string => `W/"${etag}"`;

/** The head of a cache hit: one prebuilt block per length of its numbers, filled in place. No text is made. */
export class HitHead {
  readonly #headers: string;
  readonly #templates: (Template | undefined)[] = [];

  /** `headers` are those that never change. */
  constructor(headers: readonly Header[]) {
    this.#headers = headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
  }

  /** Valid until the next call. */
  fill(quota: Quota, { slot, etag }: Pick<Entry, 'slot' | 'etag'>): Buffer {
    const { limit, remaining, reset } = quota;
    const length = (etag === '' ? 0 : HAS_ETAG) | digitsOf(limit) | (digitsOf(remaining) << 4) | (digitsOf(slot) << 8);
    const template = this.#templates[length] ?? this.#template(length, quota, slot, etag);
    const { bytes } = template;
    if (template.limit !== limit) {
      template.limit = limit;
      writeNumber(bytes, template.limitEnd, limit);
    }
    if (template.reset !== reset) {
      template.reset = reset;
      writeNumber(bytes, template.resetEnd, reset);
    }
    if (template.slot !== slot) {
      template.slot = slot;
      writeNumber(bytes, template.slotEnd, slot);
    }
    if (template.etag !== etag) {
      template.etag = etag;
      bytes.write(etag, template.etagAt, 'latin1');
    }
    writeNumber(bytes, template.remainingEnd, remaining);
    writeHex(bytes, template.idEnd, nextRequest());
    return bytes;
  }

  #template(length: number, { limit, remaining, reset }: Quota, slot: Slot, etag: string): Template {
    let text = `200 OK\r\nContent-Type: ${JSON_TYPE}`;
    const add = (name: string, value: string): number => {
      text += `\r\n${name}: ${value}`;
      return text.length;
    };
    const limitEnd = add('X-RateLimit-Limit', String(limit));
    const remainingEnd = add('X-RateLimit-Remaining', String(remaining));
    const resetEnd = add('X-RateLimit-Reset', String(reset));
    const idEnd = add('X-Request-Id', `${process8}00000000`);
    const slotEnd = add('X-Slot', String(slot));
    const etagAt = etag === '' ? 0 : add('ETag', etagOf(etag)) - etag.length - 1;
    text += `${this.#headers}\r\n${CORS}`;
    const bytes = Buffer.from(text, 'latin1');
    const template = { bytes, limitEnd, remainingEnd, resetEnd, slotEnd, idEnd, etagAt, limit, reset, slot, etag };
    this.#templates[length] = template;
    return template;
  }
}

/** Forms with an ETag differ from those without in this bit of their name. */
const HAS_ETAG = 1 << 13;

const digitsOf = (value: number): number => {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
};

const ZERO = 0x30;

/** Writes decimal digits backwards from `end`; the field is as long as the number. */
function writeNumber(bytes: Buffer, end: number, value: number): void {
  let rest = value;
  for (let at = end - 1; ; at--) {
    const tenth = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - tenth * 10); // in this order: the sum of the first two may pass 2^53
    if (tenth === 0) return;
    rest = tenth;
  }
}

const HEX = Buffer.from('0123456789abcdef');

/** Eight digits that end at `end`. */
function writeHex(bytes: Buffer, end: number, value: number): void {
  for (let at = end - 1, rest = value; at >= end - 8; at--, rest >>>= 4) bytes[at] = HEX[rest & 15] as number; // 0..15
}
