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

/** What a node, a disk or another machine has caused is its message, in one line; a defect of our own has its stack. */
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

/** The most sites reported. An unbounded number would fill the memory and the log. */
const MAX_ERROR_SITES = 100;

/** Reports only the first error of each site in the code: what is read periodically fails periodically. */
export function oncePerErrorSite<T>(
  report: (subject: T, error: unknown) => void,
): (subject: T, error: unknown) => void {
  const reported = new Set<string>();
  return (subject, error) => {
    const site = errorSiteOf(error);
    if (reported.has(site) || reported.size === MAX_ERROR_SITES) return;
    reported.add(site);
    report(subject, error);
  };
}

/** Returns the error's name and the first line of its stack, or its message where it has no stack. */
function errorSiteOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${/\n\s*at (.+)/.exec(error.stack ?? '')?.[1] ?? error.message}`;
}
