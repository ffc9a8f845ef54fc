import { systemClock } from '../../shared/runtime/system-clock.ts';
import { Feed } from '../feed/feed.ts';
import type { Verify } from './verify.ts';

const MAX_BACKOFF_MS = 30_000;

/** The feeds of the page: where its script was loaded twice, the copies share them. */
const SHARED = Symbol.for('slotgate.feeds');

export function sharedFeed(base: string, interval: number, verify?: Verify): Feed {
  const page = globalThis as { [SHARED]?: Map<string, Feed> };
  page[SHARED] ??= new Map();
  const key = `${base} ${interval}${verify ? ' verified' : ''}`;
  const feed =
    page[SHARED].get(key) ??
    new Feed({
      base,
      interval,
      receipts: verify !== undefined,
      polls: verify === undefined,
      sleeps: true,
      maxBackoffMs: MAX_BACKOFF_MS,
      clock: systemClock,
      async read(text, request) {
        if (verify && !(request && (await verify(text, request)))) throw new Error('a frame is not proven');
        return JSON.parse(text).result;
      },
    });
  page[SHARED].set(key, feed);
  return feed;
}
