import type { Address, Instruction } from '@solana/web3.js';
import { getCreateAccountInstruction, getInitializeNonceAccountInstruction } from '@solana-program/system';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
} from '@solana-program/token';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Chain } from '../bank/chain.ts';
import { COINS, type Coin, DOLLAR, GOLD, NONCE, POOL, TREASURY, WALLETS, WHALE } from './cast.ts';
import { compose } from './compose.ts';
import { type Holdings, holdings } from './holdings.ts';
import type { Keypair } from './keypair.ts';
import { planTable } from './lookup-table.ts';
import { METADATA_SIZE, metadataAccount, metadataAddress } from './metaplex.ts';
import { mintSize, pointToOwnMetadata, setTransferFee, writeMetadata } from './token-2022.ts';

/** What the play needs beside the cast. */
export interface Stage {
  readonly holding: Holdings;
  readonly table: { readonly address: Address; readonly entries: readonly Address[] };
}

const SOL = 1_000_000_000n;
const MINT_SIZE = 82;
const NONCE_SIZE = 80;
/** Enough for any metadata of the cast; what is not needed stays in the mint. */
const METADATA_ROOM = 512;

/** Puts the first state into a chain that is still being prepared: lamports by decree, all else by transactions. */
export async function setStage(chain: Chain): Promise<Stage> {
  const run = (instructions: readonly Instruction[]): void => {
    const { hash } = chain.latestBlockhash('processed');
    const { error, logs } = chain.send(compose({ payer: TREASURY, instructions, blockhash: hash }));
    if (error !== null) throw new Error(`the first block failed: ${JSON.stringify(error)}\n${logs.join('\n')}`);
  };
  const holding = await holdings();

  endow(chain, WHALE.address, WHALE.lamports);
  for (const { address } of [TREASURY, POOL]) endow(chain, address, 1_000_000n * SOL);
  WALLETS.forEach(({ address }, rank) => {
    endow(chain, address, (1000n * SOL) / BigInt(rank + 1) + BigInt(rank * rank));
  });
  for (const coin of COINS) {
    run(issue(chain, coin));
    if (coin.program === TOKEN_PROGRAM) {
      const metadata = metadataAccount(coin, TREASURY.address, chain.minimumBalance(METADATA_SIZE));
      chain.put(await metadataAddress(coin.mint.address), metadata);
    }
  }
  // The first wallets hold most, as in life; what they hold is a matter of their rank.
  WALLETS.forEach((owner, rank) => {
    run(COINS.flatMap((coin) => grant(holding, coin, owner, (1_000_000n * unit(coin)) / BigInt(rank + 1))));
  });
  run([...grant(holding, DOLLAR, POOL, 5_000_000n * unit(DOLLAR)), ...grant(holding, GOLD, POOL, 2000n * unit(GOLD))]);
  run([
    getCreateAccountInstruction({
      payer: TREASURY,
      newAccount: NONCE,
      lamports: chain.minimumBalance(NONCE_SIZE),
      space: NONCE_SIZE,
      programAddress: SYSTEM_PROGRAM as Address, // a constant of ours
    }),
    getInitializeNonceAccountInstruction({ nonceAccount: NONCE.address, nonceAuthority: TREASURY.address }),
  ]);
  const entries = [...WALLETS.slice(0, 12), ...COINS.map(({ mint }) => mint)].map(({ address }) => address);
  const table = await planTable(TREASURY, chain.slot('processed') - 1, entries);
  run(table.instructions);
  return { holding, table: { address: table.address, entries } };
}

/** One whole coin in its smallest unit. */
export const unit = ({ decimals }: { readonly decimals: number }): bigint => 10n ** BigInt(decimals);

function endow(chain: Chain, address: Address, lamports: bigint): void {
  chain.put(address, { lamports, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) });
}

function issue(chain: Chain, coin: Coin): Instruction[] {
  const { mint, program, decimals } = coin;
  const create = (size: number, room: number): Instruction =>
    getCreateAccountInstruction({
      payer: TREASURY,
      newAccount: mint,
      lamports: chain.minimumBalance(size + room),
      space: size,
      programAddress: program,
    });
  const initialize = getInitializeMint2Instruction(
    { mint: mint.address, decimals, mintAuthority: TREASURY.address, freezeAuthority: TREASURY.address },
    { programAddress: program },
  );
  if (program === TOKEN_PROGRAM) return [create(MINT_SIZE, 0), initialize];
  return [
    create(mintSize(coin), METADATA_ROOM),
    pointToOwnMetadata(coin, TREASURY.address),
    ...(coin.transferFee === undefined ? [] : [setTransferFee(coin, TREASURY.address)]),
    initialize,
    writeMetadata(coin, TREASURY),
  ];
}

function grant(holding: Holdings, coin: Coin, owner: Keypair, amount: bigint): Instruction[] {
  const { program, mint } = coin;
  const token = holding(coin, owner);
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
