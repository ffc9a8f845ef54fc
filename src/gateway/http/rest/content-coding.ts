import { brotliCompress, constants, gzip } from 'node:zlib';
import { ownBytes } from '../../../shared/runtime/own-bytes.ts';
import { MIN_COMPRESSIBLE_BYTES } from '../../cache/cache.ts';
import type { Entry } from '../../cache/entry.ts';
import { WHOLE_BODY_BYTES } from '../engine/raw-response.ts';

export type ContentCoding = 'identity' | 'gzip' | 'br';

/** Returns true if the body is long enough to look at `Accept-Encoding` at all. */
export const isCompressible = (body: string | Buffer): boolean => body.length >= MIN_COMPRESSIBLE_BYTES;

/** A quality that suits JSON: a few milliseconds for 100 KB. */
const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** The number of different `Accept-Encoding` headers whose coding is remembered. */
const MAX_REMEMBERED_HEADERS = 256;

/** The longest `Accept-Encoding` that is read, in characters: to read 16 KiB of it takes 2 ms. */
const MAX_ACCEPT_LENGTH = 256;

/** Returns the best coding that an `Accept-Encoding` header accepts (RFC 9110 12.5.3). */
export function negotiateCoding(acceptEncoding: string): ContentCoding {
  const weightOf = weightsIn(acceptEncoding);
  const [br, gz] = [weightOf('br'), weightOf('gzip')];
  if (br > 0 && br >= gz) return 'br';
  return gz > 0 ? 'gzip' : 'identity';
}

/** Returns the weights of codings in an `Accept-Encoding` header: 0 where one is not accepted. */
export function weightsIn(acceptEncoding: string): (coding: ContentCoding) => number {
  const weights = new Map<string, number>();
  const items = acceptEncoding.length > MAX_ACCEPT_LENGTH ? [] : acceptEncoding.toLowerCase().split(',');
  for (const item of items) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  return (coding) => weights.get(coding) ?? weights.get('*') ?? 0;
}

const codingsByHeader = new Map<string, ContentCoding>();

function rememberedCodingFor(acceptEncoding: string): ContentCoding {
  const found = codingsByHeader.get(acceptEncoding);
  if (found !== undefined) return found;
  if (codingsByHeader.size >= MAX_REMEMBERED_HEADERS) codingsByHeader.clear();
  const coding = negotiateCoding(acceptEncoding);
  codingsByHeader.set(acceptEncoding, coding);
  return coding;
}

/** Returns the body as its caller accepts it. One with a nonce goes to one caller: there is no use in keeping it compressed. */
export const bodyFor = (entry: Entry, body: string | Buffer, accept: string, hasNonce: boolean): EncodedBody =>
  hasNonce ? { coding: 'identity', body } : encodeBody(entry, shareBody(entry, body), accept);

/** A long body becomes bytes once, is cached with the entry as such, and is shared by its readers. */
function shareBody(entry: Entry, body: string | Buffer): string | Buffer {
  if (typeof body !== 'string' || body.length <= WHOLE_BODY_BYTES) return body;
  const bytes = ownBytes(body);
  if (entry.body === body) entry.body = bytes;
  return bytes;
}

export interface EncodedBody {
  readonly coding: ContentCoding;
  readonly body: string | Buffer;
}

/** The first caller gets the body as it is, which starts one compression off the event loop for all later ones. */
function encodeBody(entry: Entry, body: string | Buffer, acceptEncoding: string): EncodedBody {
  const coding = acceptEncoding === '' || !isCompressible(body) ? 'identity' : rememberedCodingFor(acceptEncoding);
  if (coding === 'identity') return { coding, body };
  if (entry.compressed?.source !== body) entry.compressed = { source: body };
  const { compressed } = entry;
  const ready = compressed[coding];
  if (ready !== undefined && ready !== 'pending') return { coding, body: ready };
  if (ready === undefined) {
    compressed[coding] = 'pending';
    const onCompressed = (error: Error | null, bytes: Buffer): void => {
      if (error === null) compressed[coding] = ownBytes(bytes);
    };
    if (coding === 'br') brotliCompress(body, BROTLI_OPTIONS, onCompressed);
    else gzip(body, onCompressed);
  }
  return { coding: 'identity', body };
}
