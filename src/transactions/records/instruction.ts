import { TOKEN_PROGRAM_IDS } from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { decodeBase58, encodeBase58 } from '../codec/base58.ts';
import { asArray, asInteger, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';
import { decodeInstruction, type JsonParsedInstruction, parsableProgramName } from './decode-instruction.ts';
import { BATCH_TAG, splitBatch } from './token-batch.ts';
import { MAX_INSTRUCTIONS } from './transaction-bounds.ts';

/**
 * A call of a program. A batch of a token program is replaced by the instructions in it, which have its indexes: a reader
 * of instructions sees what they do.
 */
export interface Instruction {
  readonly programId: string;
  /** A node's name for the program, such as `spl-token`; null if its instructions can't be decoded. */
  readonly program: string | null;
  /** Addresses of the accounts. Empty if the record has only the decoded form, which names them in `parsed`. */
  readonly accounts: readonly string[];
  /** Instruction data in base58. Null if the record has only the decoded form. */
  readonly data: string | null;
  /** Decoded form as in `jsonParsed`; null if unknown. */
  readonly parsed: JsonParsedInstruction | null;
  /** Index among the top-level instructions; for an inner instruction, that of its top-level instruction. */
  readonly index: number;
  /** Index among the inner instructions of the top-level one; null for a top-level instruction. */
  readonly innerIndex: number | null;
  /** Call depth: 1 for top-level instructions; null for inner ones in records without it. */
  readonly stackHeight: number | null;
  /** Inner instructions in execution order. Empty for inner ones, whose `stackHeight` identifies the caller. */
  readonly inner: readonly Instruction[];
}

/** Returns every instruction in execution order: each top-level one, then its inner ones. */
export const inExecutionOrder = oncePer((instructions: readonly Instruction[]): readonly Instruction[] =>
  instructions.flatMap((topLevel) => [topLevel, ...topLevel.inner]),
);

/** Reads a message's instructions with the inner instructions of `meta.innerInstructions`. */
export function readInstructions(
  accounts: readonly AccountKey[],
  instructions: readonly unknown[],
  innerInstructions: unknown,
): Instruction[] {
  const innerByIndex = new Map<number, readonly unknown[]>();
  for (const { index, instructions: innerList } of asArray(innerInstructions).map(asObject)) {
    const [named, last] = [asInteger(index) ?? -1, instructions.length - 1];
    const place = named >= 0 && named < last ? named : last; // which has those of no recorded instruction, too
    innerByIndex.set(place, [...(innerByIndex.get(place) ?? []), ...asArray(innerList)]);
  }
  const reader = new InstructionReader(accounts, countCalls(instructions, innerByIndex));
  return instructions.flatMap((topLevel, index) => {
    const inner = (innerByIndex.get(index) ?? []).flatMap((call, innerIndex) => {
      const recorded = asObject(call);
      const stackHeight = asInteger(recorded['stackHeight']);
      return reader.read(recorded).map((fields) => ({ ...fields, index, innerIndex, stackHeight, inner: [] }));
    });
    const calls = reader.read(asObject(topLevel));
    const last = calls.length - 1; // which instruction of a batch made which calls isn't recorded
    return calls.map((fields, place) => ({
      ...fields,
      index,
      innerIndex: null,
      stackHeight: 1,
      inner: place === last ? inner : [],
    }));
  });
}

const countCalls = (topLevel: readonly unknown[], innerByIndex: ReadonlyMap<unknown, readonly unknown[]>): number =>
  [...innerByIndex.values()].reduce((sum, { length }) => sum + length, topLevel.length);

type InstructionFields = Pick<Instruction, 'programId' | 'program' | 'accounts' | 'data' | 'parsed'>;

/** Reads the recorded instructions of one transaction. */
class InstructionReader {
  readonly #keys: readonly AccountKey[];
  /** How many more instructions batches may turn into, so that all together are no more than a transaction can have. */
  #room: number;

  constructor(keys: readonly AccountKey[], recordedCount: number) {
    this.#keys = keys;
    this.#room = Math.max(0, MAX_INSTRUCTIONS - recordedCount);
  }

  /** Returns the instruction, or those in it if it is a batch that its program would execute. */
  read(recorded: JsonObject): readonly InstructionFields[] {
    const { instruction, bytes } = readInstructionFields(this.#keys, recorded);
    const batched = TOKEN_PROGRAM_IDS.includes(instruction.programId) ? this.#expandBatch(instruction, bytes) : null;
    if (batched === null) return [instruction];
    this.#room -= batched.length - 1;
    return batched;
  }

  #expandBatch(batch: InstructionFields, bytes: Uint8Array | undefined): readonly InstructionFields[] | null {
    const { programId, program, parsed } = batch;
    const most = this.#room + 1;
    if (bytes === undefined) {
      const { instructions } = parsed?.type === 'batch' ? parsed.info : {};
      const list = asArray(instructions);
      const inner = list.length > most ? [] : list.map(readParsedInstruction);
      return inner.length === 0 || inner.some((call) => call === null || call.type === 'batch')
        ? null
        : inner.map((call) => ({ ...batch, parsed: call }));
    }
    if (bytes[0] !== BATCH_TAG) return null;
    try {
      return splitBatch(batch.accounts, bytes.subarray(1), most).map(({ accounts, data }) => ({
        programId,
        program,
        accounts,
        data: encodeBase58(data),
        parsed: decodeInstruction(programId, accounts, data),
      }));
    } catch {
      return null; // the program refused it, too
    }
  }
}

/** Reads a recorded instruction; `bytes` is its data, if that is recorded and of a program that has a decoder. */
function readInstructionFields(
  keys: readonly AccountKey[],
  fields: JsonObject,
): { readonly instruction: InstructionFields; readonly bytes?: Uint8Array | undefined } {
  const {
    programId: recordedProgramId,
    programIdIndex,
    accounts: recordedAccounts,
    data: recordedData,
    parsed: recordedParsed,
  } = fields;
  const programId = asString(recordedProgramId) ?? accountAddressAt(keys, programIdIndex) ?? '';
  const program = parsableProgramName(programId);
  const decoded = readParsedInstruction(recordedParsed);
  if (decoded !== null) return { instruction: { programId, program, accounts: [], data: null, parsed: decoded } };
  const accounts = asArray(recordedAccounts).map(
    (account) => asString(account) ?? accountAddressAt(keys, account) ?? '',
  );
  const data = recordedData instanceof Uint8Array ? encodeBase58(recordedData) : asString(recordedData);
  const bytes = program === null ? undefined : bytesOf(recordedData);
  const isBatch = TOKEN_PROGRAM_IDS.includes(programId) && bytes?.[0] === BATCH_TAG; // each instruction in it is decoded apart
  const parsed = bytes === undefined || isBatch ? null : decodeInstruction(programId, accounts, bytes);
  return { instruction: { programId, program, accounts, data, parsed }, bytes };
}

/** Reads a node's decoded form; a memo's is text alone. */
function readParsedInstruction(parsed: unknown): JsonParsedInstruction | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = asObject(parsed);
  return typeof type === 'string' ? { type, info: asObject(info) } : null;
}

/** Returns an instruction's data. That of programs without a decoder stays base58, which is slow to decode. */
function bytesOf(data: unknown): Uint8Array | undefined {
  const bytes = typeof data === 'string' ? decodeBase58(data) : data;
  return bytes instanceof Uint8Array ? bytes : undefined;
}
