import { SlotgateError } from './slotgate-error.ts';

/** The whole body, or `unreadable` when it is longer than `maxBytes`: nobody can fill the caller's memory. */
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
      reader.cancel().catch(() => {}); // whatever becomes of the rest
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
