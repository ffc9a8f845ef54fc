import { SlotgateError } from './slotgate-error.ts';

/** What the next connection could not do better. */
const FATAL_CODES: Readonly<Record<number, SlotgateError['code']>> = {
  4401: 'invalid_api_key',
  4403: 'invalid_request',
};

/** Too slow, too hasty: an instant return would end the same way. */
const SLOW_CODES: ReadonlySet<number> = new Set([1013, 4429]);

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const SLOW_DELAY_MS = 2000;

/** Why a stream is over for good; undefined where another connection may last. */
export function fatalErrorOf(code: number): SlotgateError | undefined {
  const errorCode = FATAL_CODES[code];
  return errorCode && new SlotgateError(errorCode, `the gateway closed the stream with ${code}`);
}

/**
 * How long to wait before connecting again, after so many connections in a row that brought nothing. Anywhere up to
 * twice as long each time: when a gateway restarts, its listeners must not all come back at once.
 */
export function reconnectDelayMs(failures: number, code: number, random: () => number): number {
  const maxMs = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** Math.min(failures, 10));
  return random() * maxMs + (SLOW_CODES.has(code) ? SLOW_DELAY_MS : 0);
}
