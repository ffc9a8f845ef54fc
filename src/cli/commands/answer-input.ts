import { StartError } from '../../shared/domain/start-error.ts';

export type ByteStream = AsyncIterable<Uint8Array>;

const LF = 0x0a;
const CR = 0x0d;

/** The most bytes buffered at a time; no answer is this long. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Leaves out the line end that shells and editors add. Throws a StartError if the input is over 64 MiB. */
export async function readWhole(input: ByteStream): Promise<Uint8Array> {
  const text = new PendingBytes();
  for await (const chunk of input) text.add(chunk);
  const bytes = text.flush();
  return bytes.at(-1) === LF ? withoutCarriageReturn(bytes.subarray(0, -1)) : bytes;
}

/** Reads the input line by line, without line ends. Throws a StartError if a line is over 64 MiB. */
export async function* readLines(input: ByteStream): AsyncGenerator<Uint8Array> {
  const line = new PendingBytes();
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      line.add(chunk.subarray(from, end));
      yield withoutCarriageReturn(line.flush());
      from = end + 1;
    }
    line.add(chunk.subarray(from));
  }
  if (!line.isEmpty) yield withoutCarriageReturn(line.flush());
}

const withoutCarriageReturn = (line: Uint8Array): Uint8Array => (line.at(-1) === CR ? line.subarray(0, -1) : line);

class PendingBytes {
  #parts: Uint8Array[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > MAX_BYTES) throw new StartError(1, 'the input is too long to be an answer');
    this.#parts.push(part);
  }

  flush(): Uint8Array {
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return whole;
  }
}
