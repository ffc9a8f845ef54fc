import type { AmountScale } from '../accounts/ui-amount.ts';
import type { ByteReader } from '../codec/byte-reader.ts';

/** Named values of an instruction or an account, as a node shows them under `info`. */
export type ParsedInfo = Readonly<Record<string, unknown>>;

/** How a node shows one kind of instruction: which name each account has and what the data holds. */
export interface InstructionLayout {
  readonly type: string;
  /** Names of the first accounts, in order. With fewer accounts the instruction can't be shown. */
  readonly accounts: readonly string[];
  /** Names of accounts that may follow; shown only when all are there. */
  readonly optional?: readonly string[];
  /** The name of who signs, after the others: one account, or a multisig with its signers behind it. */
  readonly signer?: string;
  /** The name under which all further accounts are listed. */
  readonly rest?: string;
  readonly data?: (reader: ByteReader, formatAmount: FormatAmount) => ParsedInfo;
}

/** How whoever shows an instruction spells the amounts of tokens in it. */
export type FormatAmount = (amount: bigint, scale: AmountScale) => unknown;

/** What a node shows of an instruction: `accounts` are its accounts' addresses, `read` stands behind the tag. */
export function readInfo(
  layout: InstructionLayout,
  accounts: readonly string[],
  reader: ByteReader,
  formatAmount: FormatAmount,
): ParsedInfo {
  const names = [...layout.accounts];
  const { optional = [], signer, rest } = layout;
  if (accounts.length >= names.length + optional.length) names.push(...optional);
  const needed = names.length + (signer === undefined ? 0 : 1);
  if (accounts.length < needed) throw new RangeError(`${layout.type} needs ${needed} accounts`);
  const accountFields = Object.fromEntries(names.map((name, index) => [name, accounts[index]]));
  const signerFields = signer === undefined ? {} : readSignerFields(signer, accounts.slice(names.length));
  const remainingFields = rest === undefined ? {} : { [rest]: accounts.slice(names.length) };
  return { ...accountFields, ...layout.data?.(reader, formatAmount), ...signerFields, ...remainingFields };
}

function readSignerFields(name: string, [authority, ...signers]: readonly string[]): ParsedInfo {
  if (signers.length === 0) return { [name]: authority };
  return { [`multisig${name[0]?.toUpperCase()}${name.slice(1)}`]: authority, signers };
}
