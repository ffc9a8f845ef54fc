import { type BigIntStats, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasErrorCode } from './error-code.ts';
import { replaceFile } from './replace-file.ts';

/** The bytes that are read at a time, unless one line is longer. */
const READ_BYTES = 256 * 1024;

/** Reads the lines of a file that grows, and is replaced now and then by a shorter one with the same content. */
export class GrowingFile {
  readonly #path: string;
  readonly #onReplaced: () => void;
  /** Which file was read: its inode and when it was made, since a removed file's inode is given to another. */
  #id = '';
  #offset = 0;

  /** `onReplaced` is called before the lines of the first or of another file are read. */
  constructor(path: string, onReplaced: () => void) {
    this.#path = path;
    this.#onReplaced = onReplaced;
  }

  /** Reads some of the next lines; '' if there are none. */
  async read(): Promise<string> {
    const file = await open(this.#path).catch((thrown: unknown) => {
      if (hasErrorCode(thrown, 'ENOENT')) return undefined;
      throw thrown;
    });
    if (file === undefined) return '';
    try {
      const stats = await file.stat({ bigint: true });
      const { size } = stats;
      if (idOf(stats) !== this.#id || size < this.#offset) {
        this.#id = idOf(stats);
        this.#offset = 0;
        this.#onReplaced();
      }
      const left = Number(size) - this.#offset;
      for (let length = Math.min(left, READ_BYTES); ; length = left) {
        const bytes = Buffer.alloc(length);
        const { bytesRead } = await file.read(bytes, 0, length, this.#offset);
        const whole = bytes.subarray(0, bytesRead).lastIndexOf('\n') + 1;
        this.#offset += whole;
        if (whole > 0 || length === left) return bytes.toString('utf8', 0, whole);
      }
    } finally {
      await file.close();
    }
  }

  /** Replaces all lines that were read, unless the file has been replaced since. It must be locked: what another process appends in this call would be lost. */
  replaceRead(lines: string): void {
    const stats = statSync(this.#path, { bigint: true });
    if (idOf(stats) !== this.#id || stats.size < this.#offset) return;
    replaceFile(this.#path, Buffer.concat([Buffer.from(lines), readFileSync(this.#path).subarray(this.#offset)]));
  }
}

/** Where the system does not show when a file was made, Node gives the time of its last change. */
const idOf = ({ ino, birthtimeNs, ctimeNs }: BigIntStats): string =>
  `${ino} ${birthtimeNs === ctimeNs ? '' : birthtimeNs}`;
