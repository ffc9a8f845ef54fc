import { decodeInSlices } from '../../src/gateway/upstream/geyser/decode-update.ts';
import type { FeedUpdate } from '../../src/gateway/upstream/geyser/feed-update.ts';

/** Decodes one `geyser.SubscribeUpdate` in one turn of the event loop. Throws for bytes that are none. */
export function decodeUpdate(bytes: Uint8Array): FeedUpdate {
  const decoding = decodeInSlices(bytes);
  let step = decoding.next();
  while (step.done !== true) step = decoding.next();
  return step.value;
}
