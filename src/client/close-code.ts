import { SlotgateError } from './slotgate-error.ts';

/** What the next connection could not do better. */
const FINAL: Readonly<Record<number, SlotgateError['code']>> = {
  4401: 'invalid_api_key',
  4403: 'invalid_request',
};

/** Too slow, too hasty: an instant return would end the same way. */
const SLOW: ReadonlySet<number> = new Set([1013, 4429]);

const BASE_MS = 500;
const CAP_MS = 30_000;
const SLOW_MS = 2000;

/** Why a stream is over for good; undefined where another connection may last. */
export function endOf(code: number): SlotgateError | undefined {
  const final = FINAL[code];
  return final && new SlotgateError(final, `the gateway closed the stream with ${code}`);
}

/**
 * How long to wait before connecting again, after so many connections in a row that brought nothing. Anywhere up to
 * twice as long each time: when a gateway restarts, its listeners must not all come back at once.
 */
export function reconnectMs(failures: number, code: number, random: () => number): number {
  const most = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(failures, 10));
  return random() * most + (SLOW.has(code) ? SLOW_MS : 0);
}
