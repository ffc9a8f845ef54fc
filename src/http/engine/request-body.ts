import { GatewayError } from '../../domain/gateway-error.ts';
import type { Reply } from './reply.ts';

/** Reads a request body of at most `maxBytes`. Each chunk is copied, since the engine reuses its memory. */
export function readRequestBody(reply: Reply, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    reply.onBody((chunk, isLast) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        chunks.length = 0;
        return reject(new GatewayError('payload_too_large', `the request body is longer than ${maxBytes} bytes`));
      }
      chunks.push(Buffer.from(chunk));
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}
