import type { TokenExtension } from '../../solana/accounts/token-extensions.ts';
import {
  decodeTokenProgramAccount,
  type Mint,
  type Multisig,
  type TokenAccount,
} from '../../solana/accounts/token-program-accounts.ts';
import type { AmountScale } from '../../solana/accounts/ui-amount.ts';
import type { Account } from '../bank/account.ts';
import type { Parsed } from './parsed.ts';
import { tokenAmount } from './token-amount.ts';

/** Shows an account of a token program: a mint, a token account or a multisig. */
export function parseTokenAccount(
  account: Account,
  scale: (mint: string) => AmountScale | undefined,
): Parsed | undefined {
  const token = decodeTokenProgramAccount(account);
  switch (token?.type) {
    case 'mint':
      return token.isInitialized ? parsedMint(token) : undefined;
    case 'account':
      return token.state === 'uninitialized' ? undefined : parsedHolding(token, scale(token.mint));
    case 'multisig':
      return parsedMultisig(token);
    default:
      return undefined;
  }
}

function parsedMint({ mintAuthority, supply, decimals, isInitialized, freezeAuthority, extensions }: Mint): Parsed {
  const base = { mintAuthority, supply: `${supply}`, decimals, isInitialized, freezeAuthority };
  return { type: 'mint', info: { ...base, ...listed(extensions) } };
}

function parsedHolding(held: TokenAccount, scale: AmountScale | undefined): Parsed | undefined {
  if (scale === undefined) return undefined; // without its mint an amount can't be shown
  const { delegate, rentExemptReserve, closeAuthority } = held;
  return {
    type: 'account',
    info: {
      mint: held.mint,
      owner: held.owner,
      tokenAmount: tokenAmount(held.amount, scale),
      ...(delegate === null ? {} : { delegate, delegatedAmount: tokenAmount(held.delegatedAmount, scale) }),
      state: held.state,
      isNative: rentExemptReserve !== null,
      ...(rentExemptReserve === null ? {} : { rentExemptReserve: tokenAmount(rentExemptReserve, scale) }),
      ...(closeAuthority === null ? {} : { closeAuthority }),
      ...listed(held.extensions),
    },
  };
}

const parsedMultisig = ({ numRequiredSigners, numValidSigners, isInitialized, signers }: Multisig): Parsed => ({
  type: 'multisig',
  info: { numRequiredSigners, numValidSigners, isInitialized, signers },
});

const listed = (extensions: readonly TokenExtension[]): object => (extensions.length === 0 ? {} : { extensions });
