import type { Account } from '../bank/account.ts';
import { invalidRequest } from '../encode/node-error.ts';
import {
  ACCOUNT_ENCODINGS,
  type AccountEncoding,
  type AccountView,
  type DataSlice,
  MAX_BASE58_BYTES,
  sliced,
  type UiAccount,
  uiAccount,
} from '../encode/ui-account.ts';
import type { BankView } from './bank-view.ts';
import { type Config, config, optional, u64, variant } from './params.ts';

/** How the caller wants to see accounts; `usual` is the encoding when none is named. */
export function accountView(
  { encoding, dataSlice }: Config,
  usual: AccountEncoding,
  { scale }: Pick<BankView, 'scale'>,
): AccountView {
  return {
    encoding: optional(encoding, (name) => variant(name, ACCOUNT_ENCODINGS)) ?? usual,
    dataSlice: optional(dataSlice, readSlice),
    scale,
  };
}

function readSlice(value: unknown): DataSlice {
  const { offset, length } = config(value);
  return { offset: u64(offset), length: u64(length) };
}

/** Shows an account in an answer, where data that is too long for base58 is refused. */
export function answeredAccount(address: string, account: Account, view: AccountView): UiAccount {
  const base58 = view.encoding === 'binary' || view.encoding === 'base58';
  if (base58 && sliced(account.data, view.dataSlice).length > MAX_BASE58_BYTES) {
    throw invalidRequest(
      `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
    );
  }
  return uiAccount(address, account, view);
}
