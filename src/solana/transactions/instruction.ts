import bs58 from 'bs58';
import { asArray, asInteger, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';
import { decodeInstruction, type JsonParsedInstruction, parsableProgramName } from './decode-instruction.ts';

/** A call of a program. */
export interface Instruction {
  readonly programId: string;
  /** A node's name for the program, such as `spl-token`; null where nothing of it can be decoded. */
  readonly program: string | null;
  /** Addresses. Empty where the record has only the decoded form: they are in `parsed` then. */
  readonly accounts: readonly string[];
  /** Null where the record has only the decoded form. */
  readonly data: Uint8Array | null;
  /** What it says, in the words of `jsonParsed`; null where that is unknown. */
  readonly parsed: JsonParsedInstruction | null;
  /** Its place among the transaction's own instructions; for a call made by a program, that of the one it stems from. */
  readonly index: number;
  /** Its place among the calls that stem from that one; null for the transaction's own instructions. */
  readonly innerIndex: number | null;
  /** 1 for the transaction's own, 2 for what it calls, and so on; null for inner ones in records that don't have it. */
  readonly stackHeight: number | null;
  /** All calls that stem from it, in order of execution. Empty for inner ones: `stackHeight` tells who called. */
  readonly inner: readonly Instruction[];
}

/** Every instruction in the order in which they ran: each of the transaction's own, then the calls it made. */
export const inExecutionOrder = (instructions: readonly Instruction[]): readonly Instruction[] =>
  instructions.flatMap((topLevel) => [topLevel, ...topLevel.inner]);

/** Reads a message's instructions with the calls that `meta.innerInstructions` lists for them. */
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
  const data = readInstructionData(recordedData);
  return { programId, program, accounts, data, parsed: data && decodeInstruction(programId, accounts, data) };
}

/** A memo is text alone in a node's words. */
function readParsedInstruction(parsed: unknown): JsonParsedInstruction | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = asObject(parsed);
  return typeof type === 'string' ? { type, info: asObject(info) } : null;
}

function readInstructionData(data: unknown): Uint8Array | null {
  if (data instanceof Uint8Array) return data;
  return typeof data === 'string' ? (bs58.decodeUnsafe(data) ?? null) : null;
}
