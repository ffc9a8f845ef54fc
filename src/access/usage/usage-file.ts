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
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownTurn } from '../../domain/own-turn.ts';
import { hasErrorCode } from '../../runtime/files/error-code.ts';
import { acquirePidLock } from '../../runtime/files/pid-lock.ts';
import { replaceFile } from '../../runtime/files/replace-file.ts';
import { formatUsageLine, parseUsageLine, REQUEST_OUTCOMES, type UsageRow } from './usage-line.ts';

/** Returns the path of the usage file in a state folder. */
export const usagePath = (state: string): string => join(state, 'usage.log');

/** The number of days kept; compaction drops older ones. */
const KEEP_DAYS = 92;

/** The most rows kept by compaction, newest days first. */
const MAX_ROWS = 50_000;

/** The pause between two attempts to lock the file, in milliseconds. */
const LOCK_PAUSE_MS = 5;

/**
 * Does work on a file that another gateway with the same state folder may append to or compact: each compaction replaces
 * the file, and what is appended to the old one meanwhile would be lost. Throws if the file is locked at each attempt;
 * between two the process stands still.
 */
export function withUsageLock(path: string, attempts: number, work: () => void): void {
  for (let attempt = 1; ; attempt++) {
    const lock = acquirePidLock(path);
    if (typeof lock === 'function') {
      try {
        work();
      } finally {
        lock();
      }
      return;
    }
    if (attempt === attempts)
      throw new Error(`${path} is in use by process ${lock}; if it is not, remove ${path}.lock`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
  }
}

/** Reads a file and sums its rows. Damaged lines are skipped. */
export const readUsage = (path: string): readonly UsageRow[] =>
  sumUsage(readWholeLines(path).lines.flatMap((line) => parseUsageLine(line) ?? []));

/** Reads a file as {@link readUsage} does, a part of it in each turn of the event loop. */
export async function readUsageInTurns(path: string): Promise<readonly UsageRow[]> {
  const text = await readFile(path, 'utf8').catch((thrown: unknown) => {
    if (hasErrorCode(thrown, 'ENOENT')) return '';
    throw thrown;
  });
  const lines = text.split('\n').slice(0, -1);
  const sums = new UsageSums();
  for (let i = 0; i < lines.length; i += LINES_PER_TURN) {
    for (const line of lines.slice(i, i + LINES_PER_TURN)) sums.add(parseUsageLine(line) ?? []);
    await ownTurn();
  }
  return sums.rows();
}

/** The lines that are read in one turn; each may have a row for every key and route. */
const LINES_PER_TURN = 200;

/** Appends rows to the file: all of them, or none if the write fails. The rows survive a kill of the process. */
export function appendUsage(path: string, rows: readonly UsageRow[]): void {
  const line = Buffer.from(formatUsageLine(rows));
  const fd = openSync(path, 'a', 0o600);
  try {
    const { size } = fstatSync(fd);
    if (writeSync(fd, line) === line.length) return;
    ftruncateSync(fd, size); // a full disk writes a part, which the next write must not continue
    throw new Error('the disk is full');
  } finally {
    closeSync(fd);
  }
}

/** Truncates the line that a killed process left unfinished, if there is one. */
export function truncateTornLine(path: string): void {
  const { whole, size } = readWholeLines(path);
  if (whole < size) truncateSync(path, whole);
}

/** Returns the size of a file in bytes; 0 if there is none. */
export const fileSizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Rewrites a file with one row per sum. */
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

/** Sums rows by day, key and route; returns the sums in order. */
export const sumUsage = (rows: readonly UsageRow[]): readonly UsageRow[] => new UsageSums(rows).rows();

/** Sums rows by day, key and route. */
export class UsageSums {
  readonly #sums = new Map<string, UsageRow>();

  constructor(rows: readonly UsageRow[] = []) {
    this.add(rows);
  }

  add(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      const name = `${row.day} ${row.key} ${row.route}`;
      const before = this.#sums.get(name);
      const counts = REQUEST_OUTCOMES.map((_, i) => (before?.counts[i] ?? 0) + (row.counts[i] ?? 0));
      this.#sums.set(name, { ...row, counts, units: (before?.units ?? 0) + row.units });
    }
  }

  /** Returns the sums by their names. */
  entries(): Iterable<readonly [string, UsageRow]> {
    return this.#sums;
  }

  /** Returns the sums in order. */
  rows(): readonly UsageRow[] {
    return [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }
}

/** Reads the complete lines of a file and their length in bytes. */
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
