import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { QuotaFigures } from '../../access/quota/quota-window.ts';
import { type Entry, ETAG_DIGITS, etagOf } from '../../cache/entry.ts';
import type { ContentCoding } from './content-coding.ts';

/** The response headers that browsers of any origin may read. */
const EXPOSED_HEADERS =
  'X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After,ETag,X-Slot,X-Cache,X-Request-Id,X-Receipt,' +
  'X-Rpc-Error-Code,X-Key-Succession,X-Cluster,X-Slot-Age,X-Skipped,X-Oldest-Slot,Link';

/** The headers of a page: only its own gateway reads it, and programs get it with the URLs that previews of links need. */
const PAGE_HEADERS = 'Vary: Accept-Encoding, Sec-Fetch-Mode, Upgrade-Insecure-Requests';

const CORS_HEADERS = `Vary: Accept-Encoding, X-Receipt-Nonce, X-Agree, X-Min-Slot\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ${EXPOSED_HEADERS}`;

/** The additional headers of the response to a CORS preflight. */
export const PREFLIGHT_HEADERS: readonly Header[] = [
  ['Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS'],
  [
    'Access-Control-Allow-Headers',
    'content-type,x-api-key,x-min-slot,x-agree,x-receipt-nonce,if-none-match,last-event-id,x-stake-wallet,x-stake-issued,x-stake-signature,' +
      'solana-client', // web3.js and kit name themselves by it
  ],
  ['Access-Control-Max-Age', '86400'],
];

export type Header = readonly [name: string, value: string];

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** The first half of a request id: eight hex digits that are random per process, before eight that count. */
const processPrefix = randomBytes(4).toString('hex');
let requestCount = 0;
const nextRequestNumber = (): number => {
  requestCount = (requestCount + 1) >>> 0;
  return requestCount;
};

/** Formats status line and headers of one response, `contentType` null for one without content. `extra` must not contain text from a caller. */
export function formatHeaders(
  status: number,
  quota: QuotaFigures,
  extra: readonly Header[],
  contentType: string | null = JSON_CONTENT_TYPE,
  isForAnyOrigin = true,
): { text: string; requestId: string } {
  const requestId = processPrefix + nextRequestNumber().toString(16).padStart(8, '0');
  const { limit, remaining, reset } = quota;
  let text = `${status} ${STATUS_CODES[status]}\r\n`;
  if (contentType !== null) text += `Content-Type: ${contentType}\r\n`;
  text += `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${remaining}\r\nX-RateLimit-Reset: ${reset}\r\nX-Request-Id: ${requestId}\r\n${isForAnyOrigin ? CORS_HEADERS : PAGE_HEADERS}`;
  for (const [name, value] of extra) text += `\r\n${name}: ${value}`;
  return { text, requestId };
}

/** Returns the status that headers begin with. */
export function statusIn(headers: string | Buffer): number {
  const digitAt = (i: number): number =>
    (typeof headers === 'string' ? headers.charCodeAt(i) : (headers[i] ?? 0)) - ZERO;
  return 100 * digitAt(0) + 10 * digitAt(1) + digitAt(2);
}

export const requestIdIn = (headers: string): string => /\r\nX-Request-Id: (\w+)/.exec(headers)?.[1] ?? '';

export const rateLimitHeaders = ({ limit, remaining, reset }: QuotaFigures): readonly Header[] => [
  ['X-RateLimit-Limit', String(limit)],
  ['X-RateLimit-Remaining', String(remaining)],
  ['X-RateLimit-Reset', String(reset)],
];

/** Prebuilt headers of fixed length, in which only numbers and the ETag change from one response to the next. */
interface HeaderBlock {
  readonly bytes: Buffer;
  readonly limitEnd: number;
  readonly remainingEnd: number;
  readonly resetEnd: number;
  readonly slotEnd: number;
  readonly idEnd: number;
  readonly etagStart: number;
  /** The end of the whole milliseconds in Server-Timing; 0 where it has none. */
  readonly timingEnd: number;
  limit: number;
  reset: number;
  slot: Slot;
  digest: string;
}

/** Formats a weak validator (RFC 9110 8.8.1): it identifies the result, whatever the slot and the receipt are. */
export const weakEtag = (etag: string): string => `W/"${etag}"`;

/** Returns true if `If-None-Match` names this result, by weak comparison (RFC 9110 13.1.2). */
export const matchesEtag = (ifNoneMatch: string, etag: string): boolean =>
  etag !== '' && (ifNoneMatch.trim() === '*' || ifNoneMatch.includes(`"${etag}"`));

/** The headers of answers: one prebuilt block per combination of number lengths, filled in place, no text created. */
export class HeaderTemplate {
  readonly #cacheControl: string;
  readonly #contentEncoding: string;
  readonly #timingDigits: number;
  readonly #blocks: (HeaderBlock | undefined)[] = [];

  /** `timingDigits`: those of the milliseconds that the upstream took; 0 for a hit. */
  constructor(cacheControl: string, coding: ContentCoding = 'identity', timingDigits = 0) {
    this.#cacheControl = cacheControl;
    this.#contentEncoding = coding === 'identity' ? '' : `\r\nContent-Encoding: ${coding}`;
    this.#timingDigits = timingDigits;
  }

  /** The bytes are valid until the next call. `upstreamTenths`: the time that the upstream took, in tenths of milliseconds. */
  fill(quota: QuotaFigures, { slot, digest }: Pick<Entry, 'slot' | 'digest'>, upstreamTenths = 0): Buffer {
    const { limit, remaining, reset } = quota;
    const lengthsKey =
      (digest === '' ? 0 : ETAG_FLAG) | countDigits(limit) | (countDigits(remaining) << 4) | (countDigits(slot) << 8);
    const block = this.#blocks[lengthsKey] ?? this.#createBlock(lengthsKey, quota, slot, digest);
    const { bytes } = block;
    if (block.limit !== limit) {
      block.limit = limit;
      writeNumber(bytes, block.limitEnd, limit);
    }
    if (block.reset !== reset) {
      block.reset = reset;
      writeNumber(bytes, block.resetEnd, reset);
    }
    if (block.slot !== slot) {
      block.slot = slot;
      writeNumber(bytes, block.slotEnd, slot);
    }
    if (block.digest !== digest) {
      block.digest = digest;
      bytes.write(digest, block.etagStart, ETAG_DIGITS, 'latin1');
    }
    if (block.timingEnd > 0) {
      const ms = Math.floor(upstreamTenths / 10);
      writeNumber(bytes, block.timingEnd, ms);
      writeNumber(bytes, block.timingEnd + 2, upstreamTenths - 10 * ms);
    }
    writeNumber(bytes, block.remainingEnd, remaining);
    writeHex(bytes, block.idEnd, nextRequestNumber());
    return bytes;
  }

  #createBlock(lengthsKey: number, { limit, remaining, reset }: QuotaFigures, slot: Slot, digest: string): HeaderBlock {
    let text = `200 OK\r\nContent-Type: ${JSON_CONTENT_TYPE}`;
    const addHeader = (name: string, value: string): number => {
      text += `\r\n${name}: ${value}`;
      return text.length;
    };
    const limitEnd = addHeader('X-RateLimit-Limit', String(limit));
    const remainingEnd = addHeader('X-RateLimit-Remaining', String(remaining));
    const resetEnd = addHeader('X-RateLimit-Reset', String(reset));
    const idEnd = addHeader('X-Request-Id', `${processPrefix}00000000`);
    text += `\r\n${CORS_HEADERS}`;
    const slotEnd = addHeader('X-Slot', String(slot));
    addHeader('X-Cache', this.#timingDigits === 0 ? 'HIT' : 'MISS');
    addHeader('Cache-Control', this.#cacheControl);
    const etag = etagOf({ digest });
    const etagStart = etag === '' ? 0 : addHeader('ETag', weakEtag(etag)) - etag.length - 1;
    const timing = `upstream;dur=${'0'.repeat(this.#timingDigits)}.0`;
    const timingEnd = this.#timingDigits === 0 ? 0 : addHeader('Server-Timing', timing) - 2;
    text += this.#contentEncoding;
    const bytes = Buffer.from(text, 'latin1');
    const block = {
      bytes,
      limitEnd,
      remainingEnd,
      resetEnd,
      slotEnd,
      idEnd,
      etagStart,
      timingEnd,
      limit,
      reset,
      slot,
      digest,
    };
    this.#blocks[lengthsKey] = block;
    return block;
  }
}

/** The headers of answers that the upstream gave, which may change with the next slot. */
export class MissHeaders {
  readonly #templates: (HeaderTemplate | undefined)[] = [];

  /** The bytes are valid until the next call. */
  fill(quota: QuotaFigures, entry: Pick<Entry, 'slot' | 'digest'>, upstreamMs: number): Buffer {
    const tenths = Math.round(upstreamMs * 10);
    const digits = countDigits(Math.floor(tenths / 10));
    const template = this.#templates[digits] ?? new HeaderTemplate('no-cache', 'identity', digits);
    this.#templates[digits] = template;
    return template.fill(quota, entry, tenths);
  }
}

/** The bit of a block's key that says whether it has an ETag. */
const ETAG_FLAG = 1 << 13;

const countDigits = (value: number): number => {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
};

const ZERO = 0x30;

/** Writes decimal digits backwards from `end`, into a field of their exact length. */
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

function writeHex(bytes: Buffer, end: number, value: number): void {
  for (let at = end - 1, rest = value; at >= end - 8; at--, rest >>>= 4) bytes[at] = HEX[rest & 15] as number; // 0..15
}
