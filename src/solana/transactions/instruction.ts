import { decodeBase58, encodeBase58 } from '../codec/base58.ts';
import { asArray, asInteger, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';
import { decodeInstruction, type JsonParsedInstruction, parsableProgramName } from './decode-instruction.ts';

/** A call of a program. */
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
export const inExecutionOrder = (instructions: readonly Instruction[]): readonly Instruction[] =>
  instructions.flatMap((topLevel) => [topLevel, ...topLevel.inner]);

/** Reads a message's instructions with the inner instructions of `meta.innerInstructions`. */
export function readInstructions(
  accounts: readonly AccountKey[],
  instructions: readonly unknown[],
  innerInstructions: unknown,
): Instruction[] {
  const innerByIndex = new Map<number | null, readonly unknown[]>();
  for (const { index, instructions: innerList } of asArray(innerInstructions).map(asObject)) {
    innerByIndex.set(asInteger(index), asArray(innerList));
  }
  return instructions.map((topLevel, index) => {
    const inner = (innerByIndex.get(index) ?? []).map((call, innerIndex) => {
      const { stackHeight, ...recorded } = asObject(call);
      return {
        ...readInstructionFields(accounts, recorded),
        index,
        innerIndex,
        stackHeight: asInteger(stackHeight),
        inner: [],
      };
    });
    return { ...readInstructionFields(accounts, asObject(topLevel)), index, innerIndex: null, stackHeight: 1, inner };
  });
}

type InstructionFields = Pick<Instruction, 'programId' | 'program' | 'accounts' | 'data' | 'parsed'>;

function readInstructionFields(keys: readonly AccountKey[], fields: JsonObject): InstructionFields {
  const {
    programId: recordedProgramId,
    programIdIndex,
    program: recordedProgram,
    accounts: recordedAccounts,
    data: recordedData,
    parsed: recordedParsed,
  } = fields;
  const programId = asString(recordedProgramId) ?? accountAddressAt(keys, programIdIndex) ?? '';
  const program = parsableProgramName(programId);
  if (recordedParsed !== undefined) {
    return {
      programId,
      program: asString(recordedProgram) ?? program,
      accounts: [],
      data: null,
      parsed: readParsedInstruction(recordedParsed),
    };
  }
  const accounts = asArray(recordedAccounts).map(
    (account) => asString(account) ?? accountAddressAt(keys, account) ?? '',
  );
  const data = recordedData instanceof Uint8Array ? encodeBase58(recordedData) : asString(recordedData);
  const parsed = program === null ? null : decodeData(programId, accounts, recordedData);
  return { programId, program, accounts, data, parsed };
}

/** Reads a node's decoded form; a memo's is text alone. */
function readParsedInstruction(parsed: unknown): JsonParsedInstruction | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = asObject(parsed);
  return typeof type === 'string' ? { type, info: asObject(info) } : null;
}

/**
 * Decodes an instruction of a program that has a decoder, from base58 or bytes. Other data stays base58, which takes long
 * to decode.
 */
function decodeData(programId: string, accounts: readonly string[], data: unknown): JsonParsedInstruction | null {
  const bytes = typeof data === 'string' ? decodeBase58(data) : data;
  return bytes instanceof Uint8Array ? decodeInstruction(programId, accounts, bytes) : null;
}
