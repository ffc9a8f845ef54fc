import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode } from '../../runtime/files/error-code.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { formatUsageLine, parseUsageLine, REQUEST_OUTCOMES, type UsageRow } from './usage-line.ts';

/** Where the usage of a state folder is kept. */
export const usagePath = (state: string): string => join(state, 'usage.log');

/** Days that are told apart; older ones are forgotten when the file is written anew. */
const KEEP_DAYS = 92;

/** More rows than this are cut too, the oldest days first. */
const MAX_ROWS = 50_000;

/** All usage that a file tells of, summed up. A damaged line tells of none. */
export const readUsage = (path: string): readonly UsageRow[] =>
  sumRows(readWholeLines(path).lines.flatMap((line) => parseUsageLine(line) ?? []));

/** Adds rows at the end of the file: all of them, or none where that fails. No kill of the process takes them back. */
export function appendUsage(path: string, rows: readonly UsageRow[]): void {
  const line = Buffer.from(formatUsageLine(rows));
  const fd = openSync(path, 'a', 0o600);
  try {
    const { size } = fstatSync(fd);
    if (writeSync(fd, line) === line.length) return;
    ftruncateSync(fd, size); // a full disk takes a part; what is written next must not join it
    throw new Error('the disk is full');
  } finally {
    closeSync(fd);
  }
}

/** Cuts off the line that a killed process left unfinished, if there is one. */
export function truncateTornLine(path: string): void {
  const { whole, size } = readWholeLines(path);
  if (whole < size) truncateSync(path, whole);
}

/** The size of a file in bytes; 0 where there is none. */
export const fileSizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Writes a file anew with each sum once. */
export function compactUsage(path: string, today: string): void {
  const oldest = new Date(Date.parse(today) - KEEP_DAYS * 86_400_000).toISOString().slice(0, 10);
  const rows = readUsage(path).filter(({ day }) => day > oldest);
  replaceFile(
    path,
    rows.length === 0
      ? ''
      : rows
          .slice(-MAX_ROWS)
          .map((row) => formatUsageLine([row]))
          .join(''),
  );
}

/** By day, key and route. */
function sumRows(rows: readonly UsageRow[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const row of rows) {
    const name = `${row.day} ${row.key} ${row.route}`;
    const before = sums.get(name)?.counts;
    sums.set(name, { ...row, counts: REQUEST_OUTCOMES.map((_, i) => (before?.[i] ?? 0) + (row.counts[i] ?? 0)) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** The ended lines of a file, and how many bytes they are. */
function readWholeLines(path: string): {
  readonly lines: readonly string[];
  readonly whole: number;
  readonly size: number;
} {
  try {
    const bytes = readFileSync(path);
    const wholeBytes = bytes.lastIndexOf('\n') + 1;
    return {
      lines: bytes.toString('utf8', 0, wholeBytes).split('\n').slice(0, -1),
      whole: wholeBytes,
      size: bytes.length,
    };
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return { lines: [], whole: 0, size: 0 };
    throw thrown;
  }
}
