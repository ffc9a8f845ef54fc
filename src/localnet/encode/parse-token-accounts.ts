import {
  type AmountScale,
  decodeTokenProgramAccount,
  type Mint,
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
    case 'multisig': {
      const { type, program: _, ...info } = token;
      return { type, info };
    }
    default:
      return undefined;
  }
}

function toParsedMint({ type, program: _, supply, extensions, ...info }: Mint): ParsedAccountData {
  return { type, info: { ...info, supply: `${supply}`, ...extensionsMember(extensions) } };
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

const extensionsMember = (extensions: readonly TokenExtension[]): object =>
  extensions.length === 0 ? {} : { extensions };
