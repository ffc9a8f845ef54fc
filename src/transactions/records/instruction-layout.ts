import type { AmountScale } from '../accounts/ui-amount.ts';
import type { ByteReader } from '../codec/byte-reader.ts';
import { asString } from '../codec/json-fields.ts';

/** Named values of an instruction or account, as nodes return them under `info`. */
export type ParsedInfo = Readonly<Record<string, unknown>>;

/** The account names and data fields under which nodes return one kind of instruction. */
export interface InstructionLayout {
  readonly type: string;
  /** Names of the first accounts, in order. An instruction with fewer accounts can't be decoded. */
  readonly accounts: readonly string[];
  /** Names of accounts that may follow, used only if all are present. */
  readonly optional?: readonly string[];
  /**
   * Addresses by name of accounts that a caller may leave out: the name of the first is skipped where another account is in its
   * place, and so are those behind it; the stake program does not look at these.
   * https://github.com/solana-program/stake/blob/main/program/src/processor.rs
   */
  readonly omittable?: Readonly<Record<string, string>>;
  /** Name of the signing authority after the others: one account, or a multisig followed by its signers. */
  readonly signer?: string;
  /** Name of the list of all further accounts. */
  readonly rest?: string;
  readonly data?: (...input: Parameters<ReadFields>) => ParsedInfo;
}

/** Formats an amount of tokens in a decoded instruction. */
export type FormatAmount = (amount: bigint, scale: AmountScale) => unknown;

/** Reads a field of the data, or several. `accounts` are the addresses of all accounts. */
export type ReadFields = (reader: ByteReader, formatAmount: FormatAmount, accounts: readonly string[]) => unknown;

/** Returns an instruction's `info`: `accounts` are its accounts' addresses, `reader` is past the tag. */
export function readInfo(
  layout: InstructionLayout,
  accounts: readonly string[],
  reader: ByteReader,
  formatAmount: FormatAmount,
): ParsedInfo {
  const names = presentNames(layout, accounts);
  const { optional = [], signer, rest } = layout;
  if (accounts.length >= names.length + optional.length) names.push(...optional);
  const needed = names.length + (signer === undefined ? 0 : 1);
  if (accounts.length < needed) throw new RangeError(`${layout.type} needs ${needed} accounts`);
  const accountFields = Object.fromEntries(names.map((name, index) => [name, accounts[index]]));
  const signerFields = signer === undefined ? {} : readSignerFields(signer, accounts.slice(names.length));
  const remainingFields = rest === undefined ? {} : { [rest]: accounts.slice(names.length) };
  return { ...accountFields, ...layout.data?.(reader, formatAmount, accounts), ...signerFields, ...remainingFields };
}

/** Returns the names of the first accounts, without those whose account was left out. */
function presentNames({ accounts: names, omittable = {} }: InstructionLayout, accounts: readonly string[]): string[] {
  const first = names.findIndex((name) => omittable[name] !== undefined);
  const isPresent = first < 0 || omittable[names[first] ?? ''] === accounts[first];
  return names.filter((name) => isPresent || omittable[name] === undefined);
}

/** Returns the signing authority by its name: one account, or a multisig followed by its signers. */
export function readSignerFields(name: string, [authority, ...signers]: readonly string[]): ParsedInfo {
  if (authority === undefined) throw new RangeError(`${name} is missing`);
  if (signers.length === 0) return { [name]: authority };
  return { [multisigName(name)]: authority, signers };
}

const multisigName = (name: string): string => `multisig${name[0]?.toUpperCase()}${name.slice(1)}`;

/** Returns the account that signed under this name, alone or as a multisig. */
export const signerOf = (info: ParsedInfo, name: string): string | null =>
  asString(info[name]) ?? asString(info[multisigName(name)]);
