import bs58 from 'bs58';
import { integer, list, object, type Recorded, text } from '../codec/recorded.ts';
import { type AccountKey, addressAt } from './account-keys.ts';
import { nodesNameOf, type Parsed, readInstruction } from './read-instruction.ts';

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
  readonly parsed: Parsed | null;
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
export const inOrder = (instructions: readonly Instruction[]): readonly Instruction[] =>
  instructions.flatMap((own) => [own, ...own.inner]);

/** Reads a message's instructions with the calls that `meta.innerInstructions` lists for them. */
export function readInstructions(
  accounts: readonly AccountKey[],
  instructions: readonly unknown[],
  innerInstructions: unknown,
): Instruction[] {
  const calls = new Map<number | null, readonly unknown[]>();
  for (const { index, instructions: called } of list(innerInstructions).map(object)) {
    calls.set(integer(index), list(called));
  }
  return instructions.map((own, index) => {
    const inner = (calls.get(index) ?? []).map((call, innerIndex) => {
      const { stackHeight, ...recorded } = object(call);
      return { ...readOne(accounts, recorded), index, innerIndex, stackHeight: integer(stackHeight), inner: [] };
    });
    return { ...readOne(accounts, object(own)), index, innerIndex: null, stackHeight: 1, inner };
  });
}

type One = Pick<Instruction, 'programId' | 'program' | 'accounts' | 'data' | 'parsed'>;

function readOne(keys: readonly AccountKey[], recorded: Recorded): One {
  const {
    programId: spelled,
    programIdIndex,
    program: named,
    accounts: places,
    data: encoded,
    parsed: words,
  } = recorded;
  const programId = text(spelled) ?? addressAt(keys, programIdIndex) ?? '';
  const program = nodesNameOf(programId);
  if (words !== undefined) {
    return { programId, program: text(named) ?? program, accounts: [], data: null, parsed: nodesWords(words) };
  }
  const accounts = list(places).map((account) => text(account) ?? addressAt(keys, account) ?? '');
  const data = bytesOf(encoded);
  return { programId, program, accounts, data, parsed: data && readInstruction(programId, accounts, data) };
}

/** A memo is text alone in a node's words. */
function nodesWords(parsed: unknown): Parsed | null {
  if (typeof parsed === 'string') return { type: 'memo', info: { memo: parsed } };
  const { type, info } = object(parsed);
  return typeof type === 'string' ? { type, info: object(info) } : null;
}

function bytesOf(data: unknown): Uint8Array | null {
  if (data instanceof Uint8Array) return data;
  return typeof data === 'string' ? (bs58.decodeUnsafe(data) ?? null) : null;
}
