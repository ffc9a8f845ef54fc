import { open } from 'node:fs/promises';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { addUsage, nameOf } from './usage-file.ts';
import { parseUsageLine, type UsageRow } from './usage-line.ts';

/** The rows that are added in one turn of the event loop, at a few microseconds each. */
const ROWS_PER_TURN = 1000;

/** The sums of a usage file that grows, and is replaced now and then by one with the same sums. */
export class UsageTail {
  readonly #path: string;
  #inode = 0n;
  #offset = 0;
  sums = new Map<string, UsageRow>();
  readonly #due = new Set<string>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads what the file has grown by. Each sum that it adds to, or all of another file, is due then. */
  async read(): Promise<void> {
    let count = 0;
    for (const line of (await this.#readNew()).split('\n'))
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

  /** Makes all sums due again. */
  forget(): void {
    for (const name of this.sums.keys()) this.#due.add(name);
  }

  async #readNew(): Promise<string> {
    const file = await open(this.#path).catch((thrown: unknown) => {
      if (hasErrorCode(thrown, 'ENOENT')) return undefined;
      throw thrown;
    });
    if (file === undefined) return '';
    try {
      const { ino, size } = await file.stat({ bigint: true });
      if (ino !== this.#inode || size < this.#offset) {
        this.#inode = ino;
        this.#offset = 0;
        this.sums = new Map();
      }
      const bytes = Buffer.alloc(Number(size) - this.#offset);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#offset);
      const whole = bytes.subarray(0, bytesRead).lastIndexOf('\n') + 1;
      this.#offset += whole;
      return bytes.toString('utf8', 0, whole);
    } finally {
      await file.close();
    }
  }
}
