import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../shared/domain/clock.ts';
import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import type { DurableWrites } from '../../shared/runtime/durable-writes.ts';
import { appendWhole } from '../../shared/runtime/files/append-whole.ts';
import { createFolder } from '../../shared/runtime/files/create-folder.ts';
import { readRegularFile } from '../../shared/runtime/files/read-regular-file.ts';
import { replaceFile } from '../../shared/runtime/files/replace-file.ts';
import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import { MAX_MINUTES, type MinuteStore } from './network-history.ts';
import { type NetworkRow, networkRow } from './network-row.ts';

export interface MinuteFilesOptions {
  readonly folder: string;
  /** Genesis hash: each cluster has files of its own. */
  readonly cluster: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly writes: Pick<DurableWrites, 'keep'>;
  /** Receives the name of a file that can't be read or removed. */
  readonly onUnusable: (name: string, cause: unknown) => void;
}

const DAY_MS = 86_400_000;

/** Days of which files are kept, the newest that have one. */
const MAX_DAYS = 8;

/** A file that is longer is none of these. */
const MAX_FILE_BYTES = 4 << 20;

/** Rows of one write and flush, which may fail each second: a few milliseconds' work. */
const ROWS_PER_WRITE = 100;

/** Lines that are parsed in one turn of the event loop: half a millisecond, and the first ones some. */
const LINES_PER_CHUNK = 50;

const NOTHING = { afterMs: Number.POSITIVE_INFINITY, latestMs: Number.NEGATIVE_INFINITY };

/** Characters of the genesis hash in a file's name. */
const CLUSTER_LENGTH = 16;

/**
 * Keeps minutes in a file for each day of UTC, a line of JSON each. A line begins with its line break, so that one cut by a
 * crash ends with the next. A file's text is below 400 KiB.
 */
export class MinuteFiles implements MinuteStore {
  readonly #options: MinuteFilesOptions;
  #unsaved: NetworkRow[] = [];
  #lastName = '';
  /** Rows in the files that ended between these are to be removed. */
  #removed = NOTHING;

  constructor(options: MinuteFilesOptions) {
    this.#options = options;
  }

  /** Reads the rows of all days, the oldest first, and removes files that are too old. A line that is damaged is skipped. */
  async read(): Promise<readonly NetworkRow[]> {
    this.#removeOld();
    const rows = new Map<number, NetworkRow>(); // of two in one minute, the later one: nothing says whose clock was right
    const names = namesIn(this.#options.folder).filter((name) => this.#isOwn(name));
    for (const name of names.sort())
      for (const row of await mapInChunks(this.#linesOf(name), LINES_PER_CHUNK, parseRow))
        if (row !== undefined) rows.set(row.endedAt, row);
    return [...rows.values()].sort((a, b) => a.endedAt - b.endedAt);
  }

  append(row: NetworkRow): void {
    this.#unsaved.push(row);
    if (this.#unsaved.length > MAX_MINUTES) this.#unsaved.shift(); // older than what can be requested
    this.#keep();
  }

  removeBetween(afterMs: number, latestMs: number): void {
    this.#unsaved = this.#unsaved.filter(({ endedAt }) => endedAt <= afterMs || endedAt > latestMs);
    const removed = this.#removed;
    this.#removed = {
      afterMs: Math.min(removed.afterMs, afterMs),
      latestMs: Math.max(removed.latestMs, latestMs),
    };
    this.#keep();
  }

  #keep(): void {
    this.#options.writes.keep('the history of the network', () => this.#save());
  }

  /** Writes some of the rows. Returns whether there are more. */
  #save(): boolean {
    const { folder } = this.#options;
    createFolder(folder);
    this.#remove();
    const [first] = this.#unsaved;
    if (first === undefined) return false;
    const name = this.#fileOf(first);
    const next = this.#unsaved.slice(0, ROWS_PER_WRITE);
    const others = next.findIndex((row) => this.#fileOf(row) !== name);
    const rows = others < 0 ? next : next.slice(0, others);
    appendWhole(join(folder, name), rows.map((row) => `\n${toJson(row)}`).join(''), { flush: true });
    this.#unsaved.splice(0, rows.length);
    if (name !== this.#lastName) this.#removeOld(); // another day
    this.#lastName = name;
    return this.#unsaved.length > 0;
  }

  /** Counts the days of this cluster: the clock may be ahead. Days of the future don't count: it may have been ahead. */
  #removeOld(): void {
    const { folder, clock } = this.#options;
    const tomorrow = this.#dayOf(clock.now() + DAY_MS);
    const oldest = this.#dayOf(clock.now() - (MAX_DAYS - 1) * DAY_MS);
    const names = namesIn(folder);
    const own = names.filter((name) => this.#isOwn(name) && dayIn(name) < tomorrow).sort();
    const others = names.filter((name) => !this.#isOwn(name) && dayIn(name) < oldest);
    for (const name of [...own.slice(0, -MAX_DAYS), ...others])
      this.#use(name, (path) => rmSync(path, { force: true }));
  }

  /** Does something with a file. One for which that fails costs only its own rows. */
  #use(name: string, work: (path: string) => void): void {
    try {
      work(join(this.#options.folder, name));
    } catch (thrown) {
      this.#options.onUnusable(name, thrown);
    }
  }

  #remove(): void {
    const { folder } = this.#options;
    const { afterMs, latestMs } = this.#removed;
    for (const name of this.#removed === NOTHING ? [] : namesIn(folder)) {
      if (!this.#isOwn(name) || dayIn(name) < this.#dayOf(afterMs)) continue;
      const lines = this.#linesOf(name);
      const kept = lines.filter((line) => {
        const endedAt = Number(/^{"endedAt":(\d+)/.exec(line)?.[1] ?? 0);
        return endedAt <= afterMs || endedAt > latestMs;
      });
      if (kept.length < lines.length) replaceFile(join(folder, name), kept.join('\n')); // where it throws, all is tried again
    }
    this.#removed = NOTHING;
  }

  #linesOf(name: string): readonly string[] {
    let lines: readonly string[] = [];
    this.#use(name, (path) => {
      lines = readRegularFile(path, MAX_FILE_BYTES).split('\n');
    });
    return lines;
  }

  #isOwn(name: string): boolean {
    return name.startsWith(this.#options.cluster.slice(0, CLUSTER_LENGTH));
  }

  #fileOf({ endedAt }: NetworkRow): string {
    return `${this.#options.cluster.slice(0, CLUSTER_LENGTH)}.${this.#dayOf(endedAt)}.jsonl`;
  }

  #dayOf(ms: number): string {
    return new Date(ms).toISOString().slice(0, 10);
  }
}

/** The day that a file's name ends with, and what follows it. */
const dayIn = (name: string): string => name.slice(CLUSTER_LENGTH + 1);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return []; // it comes with the first row
  }
}

const parseRow = (line: string): NetworkRow | undefined =>
  tryOrUndefined(() => {
    const row = parseExactJson(line) as { readonly priorityFee: Readonly<Record<string, number | bigint>> | null };
    const fees = Object.entries(row.priorityFee ?? {}).map(([level, fee]) => [level, BigInt(fee)]);
    return networkRow.safeParse({ ...row, priorityFee: row.priorityFee && Object.fromEntries(fees) }).data;
  });
