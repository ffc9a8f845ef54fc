import { AccountRole, type Address, address, type Instruction } from '@solana/web3.js';
import { getAdvanceNonceAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import bs58 from 'bs58';
import { MEMO_PROGRAM } from '../../domain/well-known-addresses.ts';
import { NONCE, TREASURY, VISITORS, WALLETS } from './cast.ts';
import type { Keypair } from './keypair.ts';
import { pair, type Scene } from './scene.ts';

const MAX_PAYMENT = 50_000_000;
const VISITOR_FUNDS = 10_000_000n;

const pay = (source: Keypair, destination: Address, amount: bigint): Instruction =>
  getTransferSolInstruction({ source, destination, amount });

/** A note that anybody can read, and that its author signs. */
export function memo(author: Keypair, text: string | Uint8Array): Instruction {
  const signer = { address: author.address, role: AccountRole.READONLY_SIGNER, signer: author } as const;
  const data = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { programAddress: address(MEMO_PROGRAM), accounts: [signer], data };
}

/** One wallet pays another. */
export const payWallet: Scene = ({ dice }) => {
  const [payer, payee] = pair(dice);
  return { payer, instructions: [pay(payer, payee.address, dice.amount(MAX_PAYMENT))] };
};

/** A payment that says what for. */
export const payInvoice: Scene = ({ dice }) => {
  const [payer, payee] = pair(dice);
  const note = memo(payer, `invoice ${dice.below(100_000)}`);
  return { payer, instructions: [note, pay(payer, payee.address, dice.amount(MAX_PAYMENT))] };
};

/** One wallet pays three at once, found through the lookup table. */
export const payMany: Scene = ({ dice, table }) => {
  const payer = dice.pick(WALLETS);
  const first = dice.below(10);
  const payees = WALLETS.slice(first, first + 3);
  const instructions = payees.map((payee) => pay(payer, payee.address, dice.amount(MAX_PAYMENT)));
  return { payer, instructions, tables: { [table.address]: [...table.entries] } };
};

/** A payment that was signed at leisure: it lives by the value of a nonce account. */
export const payByNonce: Scene = ({ dice, account }) => {
  const [payer, payee] = pair(dice);
  const nonce = account(NONCE.address)?.data.subarray(40, 72) ?? new Uint8Array(32);
  const advance = getAdvanceNonceAccountInstruction({ nonceAccount: NONCE.address, nonceAuthority: TREASURY });
  const instructions = [advance, pay(payer, payee.address, dice.amount(MAX_PAYMENT))];
  return { payer, instructions, blockhash: bs58.encode(nonce) };
};

/** Somebody gets an account, or gives all of it back so that the account is no more. */
export const visit: Scene = ({ dice, account }) => {
  const payer = dice.pick(WALLETS);
  const visitor = dice.pick(VISITORS);
  const balance = account(visitor.address)?.lamports ?? 0n;
  const instruction =
    balance === 0n ? pay(payer, visitor.address, VISITOR_FUNDS) : pay(visitor, payer.address, balance);
  return { payer, instructions: [instruction] };
};
