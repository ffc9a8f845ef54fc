import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getSyncNativeInstruction,
} from '@solana-program/token';
import bs58 from 'bs58';
import { DOLLAR, LOCKERS, WALLETS } from './cast.ts';
import { WRAPPED_SOL } from './holdings.ts';
import type { Scene } from './scene.ts';

const TOKEN_ACCOUNT_SIZE = 165;

/** A wallet turns SOL into a token, or all of that back into SOL. */
export const wrap: Scene = ({ dice, holding, account }) => {
  const payer = dice.pick(WALLETS);
  const ata = holding(WRAPPED_SOL, payer);
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
      getTransferSolInstruction({ source: payer, destination: ata, amount: dice.amount(2_000_000_000) }),
      getSyncNativeInstruction({ account: ata }),
    ],
  };
};

/** A wallet opens a second token account, or closes the one that somebody opened, as its owner. */
export const useLocker: Scene = ({ dice, account, minimumBalance }) => {
  const payer = dice.pick(WALLETS);
  const locker = dice.pick(LOCKERS);
  const open = account(locker.address);
  const owner = open && WALLETS.find(({ address }) => address === bs58.encode(open.data.subarray(32, 64)));
  if (owner !== undefined) {
    const close = getCloseAccountInstruction({ account: locker.address, destination: owner.address, owner });
    return { payer: owner, instructions: [close] };
  }
  return {
    payer,
    instructions: [
      getCreateAccountInstruction({
        payer,
        newAccount: locker,
        lamports: minimumBalance(TOKEN_ACCOUNT_SIZE),
        space: TOKEN_ACCOUNT_SIZE,
        programAddress: DOLLAR.program,
      }),
      getInitializeAccount3Instruction({ account: locker.address, mint: DOLLAR.mint.address, owner: payer.address }),
    ],
  };
};
