import { destination, type LoggerOptions, pino, stdSerializers } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { GatewayError } from '../domain/gateway-error.ts';

/** The log of the process: fields first, as in pino. An error belongs under `err`. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The lowest level that is written. */
export type LogLevel = 'info' | 'warn' | 'error' | 'silent';

/** The most bytes that wait for a slow reader of the log: lines beyond them are dropped. */
const MAX_WAITING_BYTES = 1 << 20;

/**
 * Returns an error as it is logged: one that a node, a disk or another machine has caused is its message, in one line; a
 * defect of our own has its stack. Errors of the system and of undici have a code.
 */
function serializeError(err: unknown): unknown {
  const cause = err instanceof GatewayError && err.code === 'internal_error' ? err.cause : err;
  if (!(cause instanceof Error)) return cause;
  const isDefect = cause instanceof TypeError || cause instanceof RangeError || cause.name === 'AssertionError';
  const isExpected = ('code' in cause && !isDefect) || /^(Abort|Timeout)Error$/.test(cause.name);
  return isExpected ? cause.message : stdSerializers.err(cause);
}

/** Creates a log on standard output: readable lines on a terminal, otherwise one JSON object a line. */
export function createLog(level: LogLevel): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: serializeError },
  };
  // Both destinations write synchronously: the last lines before an exit are not lost, and an exit has nothing to write,
  // which pino would try for ever where nobody reads any more.
  const lines = process.stdout.isTTY
    ? PinoPretty({ sync: true })
    : destination({ sync: true, maxLength: MAX_WAITING_BYTES });
  return pino(options, lines);
}
