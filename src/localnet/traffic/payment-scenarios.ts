import { AccountRole, type Address, address, type Instruction } from '@solana/web3.js';
import { getAdvanceNonceAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import bs58 from 'bs58';
import { MEMO_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { NONCE, TRANSIENT_WALLETS, TREASURY, WALLETS } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';
import { pickTwoWallets, type Scenario } from './scenario.ts';

const MAX_PAYMENT = 50_000_000;
const TRANSIENT_WALLET_LAMPORTS = 10_000_000n;

const transferSol = (source: Keypair, destination: Address, amount: bigint): Instruction =>
  getTransferSolInstruction({ source, destination, amount });

export function createMemo(authorKeypair: Keypair, text: string | Uint8Array): Instruction {
  const signer = { address: authorKeypair.address, role: AccountRole.READONLY_SIGNER, signer: authorKeypair } as const;
  const data = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { programAddress: address(MEMO_PROGRAM), accounts: [signer], data };
}

export const payWallet: Scenario = ({ rng }) => {
  const [payer, payee] = pickTwoWallets(rng);
  return { payer, instructions: [transferSol(payer, payee.address, rng.amount(MAX_PAYMENT))] };
};

/** Pays with a memo that names an invoice. */
export const payInvoice: Scenario = ({ rng }) => {
  const [payer, payee] = pickTwoWallets(rng);
  const note = createMemo(payer, `invoice ${rng.intBelow(100_000)}`);
  return { payer, instructions: [note, transferSol(payer, payee.address, rng.amount(MAX_PAYMENT))] };
};

/** Pays from one wallet to three, whose addresses are in the lookup table. */
export const payMany: Scenario = ({ rng, lookupTable }) => {
  const payer = rng.pick(WALLETS);
  const first = rng.intBelow(10);
  const payees = WALLETS.slice(first, first + 3);
  const instructions = payees.map((payee) => transferSol(payer, payee.address, rng.amount(MAX_PAYMENT)));
  return { payer, instructions, lookupTables: { [lookupTable.address]: [...lookupTable.entries] } };
};

/** Pays with a durable nonce instead of a recent blockhash. */
export const payByNonce: Scenario = ({ rng, account }) => {
  const [payer, payee] = pickTwoWallets(rng);
  const nonce = account(NONCE.address)?.data.subarray(40, 72) ?? new Uint8Array(32);
  const advance = getAdvanceNonceAccountInstruction({ nonceAccount: NONCE.address, nonceAuthority: TREASURY });
  const instructions = [advance, transferSol(payer, payee.address, rng.amount(MAX_PAYMENT))];
  return { payer, instructions, blockhash: bs58.encode(nonce) };
};

/** Funds a transient wallet, or returns all its lamports so that it no longer exists. */
export const fundOrEmptyWallet: Scenario = ({ rng, account }) => {
  const payer = rng.pick(WALLETS);
  const transientWallet = rng.pick(TRANSIENT_WALLETS);
  const balance = account(transientWallet.address)?.lamports ?? 0n;
  const instruction =
    balance === 0n
      ? transferSol(payer, transientWallet.address, TRANSIENT_WALLET_LAMPORTS)
      : transferSol(transientWallet, payer.address, balance);
  return { payer, instructions: [instruction] };
};
