import { ByteReader } from '../codec/byte-reader.ts';

/** The tag of an instruction that holds several others, of both token programs (SIMD-0266). */
export const BATCH_TAG = 255;

/** An instruction in a batch. */
export interface BatchedInstruction {
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/**
 * Splits the data behind a batch's tag, and the batch's accounts: for each instruction a count of accounts, the length of
 * its data, the data; its accounts are the next of the batch. Throws RangeError if the program would refuse the batch, as
 * it does one in another, and past `most` instructions.
 */
export function splitBatch(accounts: readonly string[], data: Uint8Array, most: number): BatchedInstruction[] {
  const reader = new ByteReader(data);
  let firstAccount = 0;
  const instructions: BatchedInstruction[] = [];
  do {
    const [accountCount, length] = [reader.u8(), reader.u8()];
    const instruction = {
      accounts: accounts.slice(firstAccount, firstAccount + accountCount),
      data: reader.bytes(length),
    };
    if (instruction.accounts.length < accountCount) throw new RangeError('a batch has too few accounts');
    if (length === 0 || instruction.data[0] === BATCH_TAG) throw new RangeError('a batch holds other instructions');
    if (instructions.length === most) throw new RangeError(`a batch has at most ${most} instructions`);
    instructions.push(instruction);
    firstAccount += accountCount;
  } while (reader.remaining > 0);
  return instructions;
}
