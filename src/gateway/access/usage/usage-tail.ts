import { open } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { addUsage, sortUsage } from './usage-file.ts';
import { parseUsageLine, type UsageRow } from './usage-line.ts';

/** The lines that are parsed in one turn of the event loop; each may have a row for every key and route. */
const LINES_PER_TURN = 200;

/** The sums of a usage file that grows, and is replaced now and then by one with the same sums. */
export class UsageTail {
  readonly #path: string;
  #inode = 0n;
  #offset = 0;
  #sums = new Map<string, UsageRow>();
  #returned = new Map<string, UsageRow>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the sums that have grown since the last call, a part of the file in each turn of the event loop. */
  async read(): Promise<readonly UsageRow[]> {
    const text = await this.#readNew();
    const lines = text.split('\n');
    for (let i = 0; i < lines.length; i += LINES_PER_TURN) {
      for (const line of lines.slice(i, i + LINES_PER_TURN)) addUsage(this.#sums, parseUsageLine(line) ?? []);
      await ownTurn();
    }
    if (text === '') return [];
    const before = this.#returned;
    this.#returned = new Map(this.#sums);
    return sortUsage([...this.#returned].filter(([name, row]) => !isDeepStrictEqual(before.get(name), row)));
  }

  forget(): void {
    this.#inode = 0n;
    this.#returned = new Map();
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
        this.#sums = new Map();
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
