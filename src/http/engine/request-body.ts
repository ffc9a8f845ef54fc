import { GatewayError } from '../../domain/gateway-error.ts';
import type { Reply } from './reply.ts';

/** Gathers a request body of at most `limit` bytes. The engine lends each chunk, so it is copied. */
export function readRequestBody(reply: Reply, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    reply.onBody((chunk, isLast) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        chunks.length = 0;
        return reject(new GatewayError('payload_too_large', `the body is over ${maxBytes} bytes`));
      }
      chunks.push(Buffer.from(chunk));
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}
