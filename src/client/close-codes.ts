import { exponentialDelayMs } from '../runtime/exponential-backoff.ts';
import { SlotgateError } from './slotgate-error.ts';

/** The close codes after which another connection would fail too. */
const FATAL_CODES: Readonly<Record<number, SlotgateError['code']>> = {
  4401: 'invalid_api_key',
  4403: 'invalid_request',
};

/** The close codes of a client that reads too slowly or sends too fast: reconnecting at once would end the same way. */
const SLOW_CODES: ReadonlySet<number> = new Set([1013, 4429]);

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const SLOW_DELAY_MS = 2000;

/** Returns the error that ends a stream for good; undefined if another connection may succeed. */
export function fatalErrorOf(code: number): SlotgateError | undefined {
  const errorCode = FATAL_CODES[code];
  return errorCode && new SlotgateError(errorCode, `the gateway closed the stream with code ${code}`);
}

/**
 * Returns the delay before the next connection, after `failures` connections in a row that delivered nothing. It is
 * random below a bound that doubles (full jitter): after a gateway restarts its clients must not all reconnect at once.
 */
export function reconnectDelayMs(failures: number, code: number, random: () => number): number {
  const maxMs = exponentialDelayMs(failures, BASE_DELAY_MS, MAX_DELAY_MS);
  return random() * maxMs + (SLOW_CODES.has(code) ? SLOW_DELAY_MS : 0);
}
