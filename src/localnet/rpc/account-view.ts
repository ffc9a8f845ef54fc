import type { Account } from '../bank/svm-account.ts';
import { invalidRequest } from '../encode/json-rpc-error.ts';
import {
  ACCOUNT_ENCODINGS,
  type AccountEncoding,
  type AccountView,
  type DataSlice,
  encodeUiAccount,
  MAX_BASE58_BYTES,
  sliceData,
  type UiAccount,
} from '../encode/ui-account.ts';
import type { BankView } from './bank-view.ts';
import { readConfig, readOptional, readU64, readVariant } from './json-rpc-params.ts';

export function readAccountView(
  options: unknown,
  defaultEncoding: AccountEncoding,
  { scale }: Pick<BankView, 'scale'>,
): AccountView {
  const { encoding, dataSlice } = readConfig(options);
  return {
    encoding: readOptional(encoding, (name) => readVariant(name, ACCOUNT_ENCODINGS)) ?? defaultEncoding,
    dataSlice: readOptional(dataSlice, readDataSlice),
    scale,
  };
}

function readDataSlice(value: unknown): DataSlice {
  const { offset, length } = readConfig(value);
  return { offset: readU64(offset), length: readU64(length) };
}

/** Encodes an account for an answer: null where there is none. Throws where the data is too long for base58. */
export function encodeAccount(address: string, account: Account | undefined, view: AccountView): UiAccount | null {
  if (account === undefined) return null;
  const base58 = view.encoding === 'binary' || view.encoding === 'base58';
  if (base58 && sliceData(account.data, view.dataSlice).length > MAX_BASE58_BYTES) {
    throw invalidRequest(
      `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
    );
  }
  return encodeUiAccount(address, account, view);
}
