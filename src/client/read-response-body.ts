import { SlotgateError } from './slotgate-error.ts';

/** Reads a whole body. Throws `unreadable` if it is longer than `maxBytes`, so that no server can fill the memory. */
export async function readResponseBody({ body, status }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      reader.cancel().catch(() => {}); // the result of cancelling does not matter
      throw new SlotgateError('unreadable', `the answer is longer than ${maxBytes} bytes`, { status });
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
