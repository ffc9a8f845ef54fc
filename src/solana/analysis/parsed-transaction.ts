import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import { asBigInt, asString } from '../codec/json-fields.ts';
import type { TransactionFailure } from '../errors/decode-failure.ts';

/** SOL that moved from one account to another. */
export interface NativeTransfer {
  readonly fromUserAccount: string;
  readonly toUserAccount: string;
  /** Lamports. */
  readonly amount: string;
}

/** Tokens that moved; nobody sends what is minted, nobody receives what is burned. */
export interface TokenTransfer {
  readonly fromUserAccount: string | null;
  readonly toUserAccount: string | null;
  readonly fromTokenAccount: string | null;
  readonly toTokenAccount: string | null;
  readonly mint: string;
  /** In the smallest unit of the token. */
  readonly amount: string;
  readonly decimals: number;
  /** The same in whole tokens, exact. */
  readonly uiAmount: string;
  readonly program: 'spl-token' | 'spl-token-2022';
}

export interface TokenBalanceChange {
  readonly userAccount: string;
  readonly tokenAccount: string;
  readonly mint: string;
  readonly rawTokenAmount: { readonly tokenAmount: string; readonly decimals: number };
}

/** How an account's balances differ before and after. */
export interface AccountData {
  readonly account: string;
  /** Lamports; the fee is in it. */
  readonly nativeBalanceChange: string;
  readonly tokenBalanceChanges: readonly TokenBalanceChange[];
}

export interface ParsedInstruction {
  readonly index: number;
  readonly programId: string;
  readonly programName: string | null;
  /** Solana's `jsonParsed` name of it, for programs that can be decoded. */
  readonly type: string | null;
  readonly info: Readonly<Record<string, unknown>> | null;
  readonly accounts: readonly string[];
  /** Base58; null where only the decoded form is known. */
  readonly data: string | null;
  readonly innerInstructions: readonly ParsedInstruction[];
}

/** What happened, in Helius' names: the part of the enhanced view that needs no judgement. All judgement is made from it. */
export interface ParsedTransaction {
  readonly status: 'success' | 'failed';
  /** Lamports. */
  readonly fee: number | bigint;
  readonly feePayer: string;
  readonly signers: readonly string[];
  readonly signature: string;
  /** Null for an entry of a block that does not say it. */
  readonly slot: number | null;
  /** Unix seconds. */
  readonly timestamp: number | null;
  readonly computeUnitsConsumed: number | null;
  /** Micro-lamports per compute unit. */
  readonly priorityFee: number | bigint;
  readonly nativeTransfers: readonly NativeTransfer[];
  readonly tokenTransfers: readonly TokenTransfer[];
  readonly accountData: readonly AccountData[];
  readonly instructions: readonly ParsedInstruction[];
  readonly transactionError: TransactionFailure | null;
}

/** Every instruction in the order of execution: each top-level one, then those that it called. */
export const allInstructions = (parsed: Pick<ParsedTransaction, 'instructions'>): readonly ParsedInstruction[] =>
  parsed.instructions.flatMap((topLevel) => [topLevel, ...topLevel.innerInstructions]);

/** The top-level instructions of these programs whose type matches. */
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

/** Token accounts that were closed, whoever asked for it. */
export const findCloseAccountInstructions = (
  parsed: Pick<ParsedTransaction, 'instructions'>,
): readonly ParsedInstruction[] =>
  allInstructions(parsed).filter(
    ({ programId, type }) =>
      (programId === TOKEN_PROGRAM || programId === TOKEN_2022_PROGRAM) && type === 'closeAccount',
  );

/** An address in `info`; null where there is none of this name. */
export const infoAddress = (instruction: ParsedInstruction | undefined, name: string): string | null =>
  asString(instruction?.info?.[name]);

/** A whole number in `info`, whatever JSON made of it; null where there is none. */
export const infoAmount = (instruction: ParsedInstruction, name: string): bigint | null =>
  asBigInt(instruction.info?.[name]);
