import {
  type AmountScale,
  decodeTokenProgramAccount,
  type Mint,
  type Multisig,
  type TokenAccount,
  type TokenExtension,
} from '../../transactions/index.ts';
import type { Account } from '../bank/svm-account.ts';
import type { ParsedAccountData } from './parse-native-accounts.ts';
import { toUiTokenAmount } from './ui-token-amount.ts';

/** Parses an account of a token program: a mint, a token account or a multisig. */
export function parseTokenAccount(
  account: Account,
  scale: (mint: string) => AmountScale | undefined,
): ParsedAccountData | undefined {
  const token = decodeTokenProgramAccount(account);
  switch (token?.type) {
    case 'mint':
      return token.isInitialized ? toParsedMint(token) : undefined;
    case 'account':
      return token.state === 'uninitialized' ? undefined : toParsedTokenAccount(token, scale(token.mint));
    case 'multisig':
      return toParsedMultisig(token);
    default:
      return undefined;
  }
}

function toParsedMint({
  mintAuthority,
  supply,
  decimals,
  isInitialized,
  freezeAuthority,
  extensions,
}: Mint): ParsedAccountData {
  const base = { mintAuthority, supply: `${supply}`, decimals, isInitialized, freezeAuthority };
  return { type: 'mint', info: { ...base, ...extensionsMember(extensions) } };
}

function toParsedTokenAccount(
  tokenAccount: TokenAccount,
  scale: AmountScale | undefined,
): ParsedAccountData | undefined {
  if (scale === undefined) return undefined; // without its mint an amount has no decimals
  const { delegate, rentExemptReserve, closeAuthority } = tokenAccount;
  return {
    type: 'account',
    info: {
      mint: tokenAccount.mint,
      owner: tokenAccount.owner,
      tokenAmount: toUiTokenAmount(tokenAccount.amount, scale),
      ...(delegate === null ? {} : { delegate, delegatedAmount: toUiTokenAmount(tokenAccount.delegatedAmount, scale) }),
      state: tokenAccount.state,
      isNative: rentExemptReserve !== null,
      ...(rentExemptReserve === null ? {} : { rentExemptReserve: toUiTokenAmount(rentExemptReserve, scale) }),
      ...(closeAuthority === null ? {} : { closeAuthority }),
      ...extensionsMember(tokenAccount.extensions),
    },
  };
}

const toParsedMultisig = ({
  numRequiredSigners,
  numValidSigners,
  isInitialized,
  signers,
}: Multisig): ParsedAccountData => ({
  type: 'multisig',
  info: { numRequiredSigners, numValidSigners, isInitialized, signers },
});

const extensionsMember = (extensions: readonly TokenExtension[]): object =>
  extensions.length === 0 ? {} : { extensions };
