import { exponentialDelayMs } from '../shared/runtime/exponential-backoff.ts';
import { SlotgateError } from './slotgate-error.ts';

/** The close codes after which another connection would fail too. */
const FATAL_CODES: Readonly<Record<number, SlotgateError['code']>> = {
  4401: 'invalid_api_key',
  4403: 'invalid_request',
};

/** The close codes of a client that reads too slowly or sends too fast: an immediate reconnect would end the same way. */
const SLOW_CODES: ReadonlySet<number> = new Set([1013, 4429]);

const BASE_DELAY_MS = 500;
export const MAX_DELAY_MS = 30_000;
/** From this number of failures on, the gateway is lost for a long time, and the longest delay holds for all. */
const LONG_LOST_FAILURES = 200;
const SLOW_DELAY_MS = 2000;

/** Returns the error that ends a stream for good; undefined if another connection may succeed. */
export function fatalErrorOf(code: number): SlotgateError | undefined {
  const errorCode = FATAL_CODES[code];
  return errorCode && new SlotgateError(errorCode, `the gateway closed the stream with code ${code}`);
}

export const isSlowCode = (code: number): boolean => SLOW_CODES.has(code);

/** Random below a bound that doubles up to `maxMs` (full jitter): clients must not all reconnect together. */
export function reconnectDelayMs(failures: number, code: number, maxMs: number, random: () => number): number {
  const boundMs = exponentialDelayMs(failures, BASE_DELAY_MS, failures < LONG_LOST_FAILURES ? maxMs : MAX_DELAY_MS);
  return random() * boundMs + (isSlowCode(code) ? SLOW_DELAY_MS : 0);
}
