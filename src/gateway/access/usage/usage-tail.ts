import { GrowingFile } from '../../../shared/runtime/files/growing-file.ts';
import { mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { addUsage, KEEP_DAYS, nameOf } from './usage-file.ts';
import { DAY_MS, dayOf, formatUsageLine, parseUsageLine, type UsageRow } from './usage-line.ts';

/** The rows that are added in one turn of the event loop, at a few microseconds each. */
const ROWS_PER_TURN = 500;

/** The most rows kept by compaction: those that were first counted last. */
const MAX_ROWS = 50_000;

/** Sums a file up in turns of the event loop; returns what then replaces it, while it is locked. */
export async function prepareCompaction(path: string, today: string): Promise<() => void> {
  const tail = new UsageTail(path);
  await tail.read();
  const oldest = dayOf(Date.parse(today) - KEEP_DAYS * DAY_MS);
  const rows = [...tail.sums.values()].filter(({ day }) => day > oldest).slice(-MAX_ROWS);
  const lines = await mapInChunks(rows, ROWS_PER_TURN, (row) => formatUsageLine([row]));
  return () => tail.file.replaceRead(lines.join(''));
}

/** The sums of a usage file that grows, and is replaced now and then by one with the same sums. */
export class UsageTail {
  readonly file: GrowingFile;
  sums = new Map<string, UsageRow>();
  readonly #due = new Set<string>();

  constructor(path: string) {
    this.file = new GrowingFile(path, () => {
      this.sums = new Map();
    });
  }

  /** Reads what the file has grown by. Each sum that it adds to, or all of another file, is due then. */
  async read(): Promise<void> {
    let count = 0;
    for (let lines = await this.file.read(); lines !== ''; lines = await this.file.read())
      for (const line of lines.split('\n'))
        for (const row of parseUsageLine(line) ?? []) {
          addUsage(this.sums, [row]);
          this.#due.add(nameOf(row));
          if (++count % ROWS_PER_TURN === 0) await ownTurn();
        }
  }

  /** Sends the sums that are due, at most `count` at a time, all of one day. Those that can't be sent stay due. */
  async send(count: number, send: (day: string, rows: readonly UsageRow[]) => Promise<void>): Promise<void> {
    while (this.#due.size > 0) {
      const rows: UsageRow[] = [];
      for (const name of this.#due) {
        const row = this.sums.get(name);
        if (row === undefined) this.#due.delete(name);
        else if (rows.length === count || row.day !== (rows[0] ?? row).day) break;
        else rows.push(row);
      }
      if (rows[0] !== undefined) await send(rows[0].day, rows);
      for (const row of rows) this.#due.delete(nameOf(row));
    }
  }

  forget(): void {
    for (const name of this.sums.keys()) this.#due.add(name);
  }
}
