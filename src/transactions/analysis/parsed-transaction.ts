import { TOKEN_PROGRAM_IDS } from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { asBigInt, asObject, asString } from '../codec/json-fields.ts';
import type { TransactionFailure } from '../errors/decode-failure.ts';
import type { Action, Unaccounted } from './action.ts';
import type { AuthorityChange } from './authority-changes.ts';
import type { ConfidentialTransfer } from './confidential-transfers.ts';

/** A transfer of SOL from one account to another. */
export interface NativeTransfer {
  readonly fromUserAccount: string;
  readonly toUserAccount: string;
  /** Lamports. */
  readonly amount: string;
}

/** A transfer of tokens; a mint has no sender, a burn no receiver. */
export interface TokenTransfer {
  readonly fromUserAccount: string | null;
  readonly toUserAccount: string | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  readonly mint: string;
  /** Amount in smallest units. */
  readonly amount: string;
  readonly decimals: number;
  /** The same amount in whole tokens, exact. */
  readonly uiAmount: string;
  /** Transfer fee withheld from `amount`, in smallest units; null if there is none. */
  readonly feeAmount: string | null;
  readonly program: 'spl-token' | 'spl-token-2022';
}

export interface TokenBalanceChange {
  readonly userAccount: string;
  readonly tokenAccount: string;
  readonly mint: string;
  readonly rawTokenAmount: { readonly tokenAmount: string; readonly decimals: number };
}

/** The difference of an account's balances before and after, of those that are recorded. */
export interface AccountData {
  readonly account: string;
  /** Change in lamports, the fee payer's with the fee; null if the record lacks them. */
  readonly nativeBalanceChange: string | null;
  readonly tokenBalanceChanges: readonly TokenBalanceChange[];
}

export interface ParsedInstruction {
  /** Place among the instructions of the transaction or caller. Instructions of one batch share that of the batch. */
  readonly index: number;
  readonly programId: string;
  readonly programName: string | null;
  /** The `jsonParsed` type, if the program's instructions can be decoded. */
  readonly type: string | null;
  /** What its program calls it, in its log or its IDL: a stranger's word. */
  readonly name: string | null;
  readonly info: Readonly<Record<string, unknown>> | null;
  readonly accounts: readonly string[];
  /** Data in base58; null if only the decoded form is known. */
  readonly data: string | null;
  readonly innerInstructions: readonly ParsedInstruction[];
}

/**
 * The effects of a transaction under Helius' names: the facts of the enhanced view, from which the rest of it is
 * inferred.
 */
export interface ParsedTransaction {
  /** Null if the record does not say. */
  readonly status: 'success' | 'failed' | null;
  /** Lamports. */
  readonly fee: number | bigint;
  readonly feePayer: string;
  readonly signers: readonly string[];
  readonly signature: string;
  /** Null for an entry of a block without it. */
  readonly slot: number | null;
  /** Unix seconds. */
  readonly timestamp: number | null;
  readonly computeUnitsConsumed: number | null;
  /** Micro-lamports per compute unit. */
  readonly priorityFee: number | bigint;
  readonly nativeTransfers: readonly NativeTransfer[];
  readonly tokenTransfers: readonly TokenTransfer[];
  /** Movements of tokens whose amounts are hidden. None unless the transaction succeeded, as of all below but the fee. */
  readonly confidentialTransfers: readonly ConfidentialTransfer[];
  /** Rights that passed to another holder, in execution order. */
  readonly authorityChanges: readonly AuthorityChange[];
  /** All that changed balances of wallets: for each that signed, they add up to the change of its balances. */
  readonly actions: readonly Action[];
  /** What of such a change no action explains; the description says so. */
  readonly unaccounted: readonly Unaccounted[];
  readonly accountData: readonly AccountData[];
  /** Whether the record lacks balances or calls, or has one that can't be decoded, so that they do not show all that moved. */
  readonly isIncomplete: boolean;
  readonly instructions: readonly ParsedInstruction[];
  readonly transactionError: TransactionFailure | null;
}

/** Returns every instruction in execution order: each top-level one, then its inner ones. */
export const allInstructions = ({
  instructions,
}: Pick<ParsedTransaction, 'instructions'>): readonly ParsedInstruction[] => inOrder(instructions);

const inOrder = oncePer((instructions: readonly ParsedInstruction[]): readonly ParsedInstruction[] =>
  instructions.flatMap((topLevel) => [topLevel, ...topLevel.innerInstructions]),
);

/** Returns the instruction that did something, or all of its batch. */
export function callsOf(
  { instruction }: Pick<Action, 'instruction'>,
  { instructions }: Pick<ParsedTransaction, 'instructions'>,
): readonly ParsedInstruction[] {
  const [topLevel, inner = null] = instruction ?? [];
  const calls = instructions.filter(({ index }) => index === topLevel);
  return inner === null
    ? calls
    : calls.flatMap((call) => call.innerInstructions.filter(({ index }) => index === inner));
}

/** Returns the top-level instructions of these programs whose type matches. */
export const findInstructions = (
  parsed: Pick<ParsedTransaction, 'instructions'>,
  programs: readonly string[],
  type: RegExp,
): readonly ParsedInstruction[] =>
  parsed.instructions.filter(
    (instruction) => programs.includes(instruction.programId) && type.test(instruction.type ?? ''),
  );

export const hasInstruction = (...criteria: Parameters<typeof findInstructions>): boolean =>
  findInstructions(...criteria).length > 0;

/** Returns the instructions that close token accounts, top-level or inner. */
export const findCloseAccountInstructions = (
  parsed: Pick<ParsedTransaction, 'instructions'>,
): readonly ParsedInstruction[] =>
  allInstructions(parsed).filter(
    ({ programId, type }) => TOKEN_PROGRAM_IDS.includes(programId) && type === 'closeAccount',
  );

/** Returns an address in `info`; null if there is none of this name. */
export const infoAddress = (instruction: ParsedInstruction | undefined, name: string): string | null =>
  asString(instruction?.info?.[name]);

/** Returns an integer in `info`, whatever its JSON type; null if there is none. */
export const infoAmount = (instruction: ParsedInstruction, name: string): bigint | null =>
  asBigInt(instruction.info?.[name]);

/** Returns how many tokens an instruction moves, in smallest units; null if it names no amount. */
export const tokenAmountIn = (instruction: ParsedInstruction): bigint | null =>
  infoAmount(instruction, 'amount') ?? asBigInt(asObject(instruction.info?.['tokenAmount'])['amount']);
