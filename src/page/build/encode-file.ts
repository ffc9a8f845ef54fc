import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { EncodedDocument } from '../encoded-document.ts';

const ETAG_DIGITS = 16;

/** Encodes a text once for all its readers: at the build there is time for the best quality. */
export function encodeFile(text: string): EncodedDocument {
  const identity = Buffer.from(text);
  const br = brotliCompressSync(identity, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } });
  const gzip = gzipSync(identity, { level: constants.Z_BEST_COMPRESSION, memLevel: 9 });
  const etag = createHash('sha256').update(identity).digest('hex').slice(0, ETAG_DIGITS);
  return { identity, br, gzip, etag };
}
