import type { Address, Instruction } from '@solana/web3.js';
import { getCreateAccountInstruction, getInitializeNonceAccountInstruction } from '@solana-program/system';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
} from '@solana-program/token';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { findMetadataAddress } from '../../transactions/index.ts';
import type { Chain } from '../bank/chain.ts';
import { systemAccount } from '../bank/svm-account.ts';
import { tokenAccountOf } from './associated-token-accounts.ts';
import { buildTransaction } from './build-transaction.ts';
import { copyTokenAccount } from './copy-token-accounts.ts';
import { planLookupTable } from './create-lookup-table.ts';
import { COINS, type Coin, DOLLAR, GOLD, NONCE, POOL, TREASURY, WALLETS, WHALE } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';
import { createMetadataAccount, METADATA_ACCOUNT_BYTES } from './demo-token-metadata.ts';
import { mintBytes, pointToOwnMetadata, setTransferFee, writeMetadata } from './token-2022-instructions.ts';

/** Accounts of the setup that scenarios use. */
export interface TrafficSetup {
  readonly tokenAccountOf: typeof tokenAccountOf;
  readonly lookupTable: { readonly address: Address; readonly entries: readonly Address[] };
}

const SOL = 1_000_000_000n;
const MINT_BYTES = 82;
const NONCE_BYTES = 80;
/** Space for the metadata of any coin; the lamports of unused space stay in the mint. */
const METADATA_CAPACITY_BYTES = 512;

/** Writes the first state to a chain that has no block yet: lamports directly, all else by transactions or as they left it. */
export async function setUpTraffic(chain: Chain): Promise<TrafficSetup> {
  const run = (instructions: readonly Instruction[]): void => {
    const { hash } = chain.latestBlockhash('processed');
    const { error, logs } = chain.send(buildTransaction({ payer: TREASURY, instructions, blockhash: hash }));
    if (error !== null) throw new Error(`the first block failed: ${JSON.stringify(error)}\n${logs.join('\n')}`);
  };

  chain.setAccount(WHALE.address, systemAccount(WHALE.lamports));
  for (const { address } of [TREASURY, POOL]) chain.setAccount(address, systemAccount(1_000_000n * SOL));
  WALLETS.forEach(({ address }, rank) => {
    chain.setAccount(address, systemAccount((1000n * SOL) / BigInt(rank + 1) + BigInt(rank * rank)));
  });
  for (const coin of COINS) {
    run(createMintInstructions(chain, coin));
    if (coin.program === TOKEN_PROGRAM) {
      const metadata = createMetadataAccount(coin, TREASURY.address, chain.minimumBalance(METADATA_ACCOUNT_BYTES));
      chain.setAccount(findMetadataAddress(coin.mint.address), metadata);
    }
  }
  // Balances fall with the rank of a wallet: the first wallets own most.
  const [richest, ...others] = WALLETS;
  run(COINS.flatMap((coin) => mintToInstructions(coin, richest, 1_000_000n * unitsPerCoin(coin))));
  for (const coin of COINS) {
    const amountOf = (rank: number): bigint => (1_000_000n * unitsPerCoin(coin)) / BigInt(rank + 1);
    copyTokenAccount(
      chain,
      coin,
      richest,
      others.map((owner, index) => ({ owner, amount: amountOf(index + 1) })),
    );
  }
  run([
    ...mintToInstructions(DOLLAR, POOL, 5_000_000n * unitsPerCoin(DOLLAR)),
    ...mintToInstructions(GOLD, POOL, 2000n * unitsPerCoin(GOLD)),
  ]);
  run([
    getCreateAccountInstruction({
      payer: TREASURY,
      newAccount: NONCE,
      lamports: chain.minimumBalance(NONCE_BYTES),
      space: NONCE_BYTES,
      programAddress: SYSTEM_PROGRAM as Address, // a constant of this package
    }),
    getInitializeNonceAccountInstruction({ nonceAccount: NONCE.address, nonceAuthority: TREASURY.address }),
  ]);
  const entries = [...WALLETS.slice(0, 12), ...COINS.map(({ mint }) => mint)].map(({ address }) => address);
  const table = await planLookupTable(TREASURY, chain.slot('processed') - 1, entries);
  run(table.instructions);
  return { tokenAccountOf, lookupTable: { address: table.address, entries } };
}

/** Returns one whole coin in its smallest unit. */
export const unitsPerCoin = ({ decimals }: { readonly decimals: number }): bigint => 10n ** BigInt(decimals);

function createMintInstructions(chain: Chain, coin: Coin): Instruction[] {
  const { mint, program, decimals } = coin;
  const create = (mintBytes: number, extraBytes: number): Instruction =>
    getCreateAccountInstruction({
      payer: TREASURY,
      newAccount: mint,
      lamports: chain.minimumBalance(mintBytes + extraBytes),
      space: mintBytes,
      programAddress: program,
    });
  const initialize = getInitializeMint2Instruction(
    { mint: mint.address, decimals, mintAuthority: TREASURY.address, freezeAuthority: TREASURY.address },
    { programAddress: program },
  );
  if (program === TOKEN_PROGRAM) return [create(MINT_BYTES, 0), initialize];
  return [
    create(mintBytes(coin), METADATA_CAPACITY_BYTES),
    pointToOwnMetadata(coin, TREASURY.address),
    ...(coin.transferFeeBps === undefined ? [] : [setTransferFee(coin, TREASURY.address)]),
    initialize,
    writeMetadata(coin, TREASURY),
  ];
}

function mintToInstructions(coin: Coin, owner: Keypair, amount: bigint): Instruction[] {
  const { program, mint } = coin;
  const token = tokenAccountOf(coin, owner);
  return [
    getCreateAssociatedTokenIdempotentInstruction({
      payer: TREASURY,
      ata: token,
      owner: owner.address,
      mint: mint.address,
      tokenProgram: program,
    }),
    getMintToInstruction({ mint: mint.address, token, mintAuthority: TREASURY, amount }, { programAddress: program }),
  ];
}
