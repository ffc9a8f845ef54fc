import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getSyncNativeInstruction,
} from '@solana-program/token';
import { readTokenAccount } from '../bank/token-state.ts';
import { WRAPPED_SOL } from './associated-token-accounts.ts';
import { DOLLAR, EXTRA_TOKEN_ACCOUNTS, WALLETS } from './demo-accounts.ts';
import type { Scenario } from './scenario.ts';

const TOKEN_ACCOUNT_BYTES = 165;

/** Wraps SOL of a wallet, or unwraps all of it. */
export const wrapOrUnwrapSol: Scenario = ({ rng, tokenAccountOf, account }) => {
  const payer = rng.pick(WALLETS);
  const ata = tokenAccountOf(WRAPPED_SOL, payer);
  if (account(ata) !== undefined) {
    const unwrap = getCloseAccountInstruction({ account: ata, destination: payer.address, owner: payer });
    return { payer, instructions: [unwrap] };
  }
  return {
    payer,
    instructions: [
      getCreateAssociatedTokenIdempotentInstruction({
        payer,
        ata,
        owner: payer.address,
        mint: WRAPPED_SOL.mint.address,
        tokenProgram: WRAPPED_SOL.program,
      }),
      getTransferSolInstruction({ source: payer, destination: ata, amount: rng.amount(2_000_000_000) }),
      getSyncNativeInstruction({ account: ata }),
    ],
  };
};

/** Opens a second token account of a wallet, or closes the one that a wallet opened, as its owner. */
export const openOrCloseTokenAccount: Scenario = ({ rng, account, minimumBalance }) => {
  const payer = rng.pick(WALLETS);
  const extraAccount = rng.pick(EXTRA_TOKEN_ACCOUNTS);
  const openAccount = readTokenAccount(account(extraAccount.address));
  const owner = WALLETS.find(({ address }) => address === openAccount?.owner);
  if (owner !== undefined) {
    const close = getCloseAccountInstruction({ account: extraAccount.address, destination: owner.address, owner });
    return { payer: owner, instructions: [close] };
  }
  return {
    payer,
    instructions: [
      getCreateAccountInstruction({
        payer,
        newAccount: extraAccount,
        lamports: minimumBalance(TOKEN_ACCOUNT_BYTES),
        space: TOKEN_ACCOUNT_BYTES,
        programAddress: DOLLAR.program,
      }),
      getInitializeAccount3Instruction({
        account: extraAccount.address,
        mint: DOLLAR.mint.address,
        owner: payer.address,
      }),
    ],
  };
};
