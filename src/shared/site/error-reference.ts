import type { ErrorCode } from '../domain/gateway-error.ts';
import { readTables } from '../runtime/files/read-tables.ts';

/** What people read about an error besides its message. Markdown in one line. */
interface ErrorWords {
  readonly meaning: string;
  readonly fix: string;
}

const [table] = readTables(new URL('data/errors.tsv', import.meta.url), 'error');

/** The meaning of every error and its cure, for the API document and the reference. Programs need neither. */
export const ERROR_REFERENCE = Object.fromEntries(
  (table?.rows ?? []).map(([code, meaning = '', fix = '']) => [code, { meaning, fix }]),
) as Readonly<Record<ErrorCode, ErrorWords>>; // a test compares the codes with those of the gateway
