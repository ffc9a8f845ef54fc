import {
  AccountRole,
  type Address,
  address,
  getAddressEncoder,
  getI16Encoder,
  getI64Encoder,
  getU64Encoder,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/web3.js';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import {
  getAdvanceNonceAccountInstruction,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getTransferSolInstruction,
} from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getApproveInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getFreezeAccountInstruction,
  getInitializeMint2Instruction,
  getInitializeMintInstruction,
  getMintToInstruction,
  getSyncNativeInstruction,
  getThawAccountInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import bs58 from 'bs58';
import type { Chain } from '../../../src/localnet/bank/chain.ts';
import { buildTransaction, type TransactionDraft } from '../../../src/localnet/traffic/build-transaction.ts';
import { planLookupTable } from '../../../src/localnet/traffic/create-lookup-table.ts';
import type { Coin } from '../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair, type Keypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createMemo } from '../../../src/localnet/traffic/payment-scenarios.ts';
import {
  pointToOwnMetadata,
  setTransferFee,
  writeMetadata,
} from '../../../src/localnet/traffic/token-2022-instructions.ts';
import { WRAPPED_SOL } from '../../../src/shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';

/** Calls a method of the cluster; returns the result. */
export type SendRpc = (method: string, ...params: unknown[]) => Promise<unknown>;

const token = address(TOKEN_PROGRAM);
const token2022 = address(TOKEN_2022_PROGRAM);
const SOL = 1_000_000_000n;
const MINT_22_BYTES = 166 + 112 + 36 + 36 + 56 + 68;
const STAKE_BYTES = 200;

/**
 * Repeats on the embedded cluster what was sent to the node during the recording: the same transactions, each in its
 * own slot, over RPC. Returns the address or signature of each recorded name.
 */
export async function replayRecording(chain: Chain, sendRpc: SendRpc, vote: Address): Promise<Record<string, string>> {
  const [alice, bob, carol, dust] = ['alice', 'bob', 'carol', 'dust'].map(deriveKeypair) as [
    Keypair,
    Keypair,
    Keypair,
    Keypair,
  ];
  const [mint, mint22, nonce, stake] = ['mint', 'mint22', 'nonce', 'stake'].map(deriveKeypair) as [
    Keypair,
    Keypair,
    Keypair,
    Keypair,
  ];
  const ata = async (mint: Address, owner: Keypair, tokenProgram: Address): Promise<Address> =>
    (await findAssociatedTokenPda({ mint, owner: owner.address, tokenProgram }))[0];
  const aliceToken = await ata(mint.address, alice, token);
  const bobToken = await ata(mint.address, bob, token);
  const wsol = await ata(address(WRAPPED_SOL), bob, token);
  const alice22 = await ata(mint22.address, alice, token2022);
  const carol22 = await ata(mint22.address, carol, token2022);
  const names: Record<string, string> = { vote, aliceToken, bobToken, wsol, alice22, carol22 };
  for (const [name, { address }] of Object.entries({ alice, bob, carol, dust, mint, mint22, nonce, stake })) {
    names[name] = address;
  }

  const airdrop = async (to: Keypair, amount: bigint): Promise<string> => {
    const signature = (await sendRpc('requestAirdrop', to.address, Number(amount))) as string; // a signature
    chain.produceBlock();
    return signature;
  };
  const send = async (
    name: string,
    payer: Keypair,
    instructions: Instruction[],
    more: Partial<TransactionDraft> = {},
  ) => {
    const { hash: blockhash } = chain.latestBlockhash('confirmed');
    const wire = buildTransaction({ payer, instructions, blockhash, ...more });
    const options = { encoding: 'base64', skipPreflight: true };
    names[name] = (await sendRpc('sendTransaction', Buffer.from(wire).toString('base64'), options)) as string; // a signature
    chain.produceBlock();
  };
  const transferSol = (source: Keypair, destination: Address, amount: bigint): Instruction =>
    getTransferSolInstruction({ source, destination, amount });
  const create = (newAccount: Keypair, space: number, programAddress: Address, rentBytes = space): Instruction =>
    getCreateAccountInstruction({
      payer: alice,
      newAccount,
      space,
      lamports: chain.minimumBalance(rentBytes),
      programAddress,
    });
  const createTokenAccount = (
    payer: Keypair,
    ata: Address,
    owner: Keypair,
    mint: Address,
    tokenProgram: Address = token,
  ): Instruction =>
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: owner.address, mint, tokenProgram });

  const first = await airdrop(alice, 500n * SOL);
  await airdrop(bob, 50n * SOL);
  await airdrop(dust, SOL);
  await airdrop(carol, 3n * SOL);
  await send('transfer', alice, [transferSol(alice, bob.address, 123_456_789n)]);
  await send('memo', alice, [
    getSetComputeUnitLimitInstruction({ units: 40_000 }),
    getSetComputeUnitPriceInstruction({ microLamports: 12_345n }),
    createMemo(alice, 'héllo slot'),
  ]);
  await send('failed', bob, [transferSol(bob, alice.address, 9_000_000_000_000_000n)]);
  await send('drained', dust, [transferSol(dust, bob.address, SOL - 5000n)]);

  await send('createMint', alice, [
    create(mint, 82, token),
    getInitializeMint2Instruction({
      mint: mint.address,
      decimals: 6,
      mintAuthority: alice.address,
      freezeAuthority: alice.address,
    }),
    createTokenAccount(alice, aliceToken, alice, mint.address),
    getMintToInstruction({
      mint: mint.address,
      token: aliceToken,
      mintAuthority: alice,
      amount: 18_000_000_000_000_000_000n,
    }),
  ]);
  await send('tokenTransfer', alice, [
    createTokenAccount(alice, bobToken, bob, mint.address),
    getTransferCheckedInstruction({
      source: aliceToken,
      mint: mint.address,
      destination: bobToken,
      authority: alice,
      amount: 9_007_199_254_740_993n,
      decimals: 6,
    }),
  ]);
  const plain = { source: aliceToken, destination: bobToken, authority: alice, amount: 7n };
  await send('plainTransfer', alice, [getTransferInstruction(plain)]);
  const approval = { source: aliceToken, delegate: bob.address, owner: alice, amount: 55n };
  await send('approve', alice, [getApproveInstruction(approval)]);
  const frozen = { account: bobToken, mint: mint.address, owner: alice };
  await send('freeze', alice, [getFreezeAccountInstruction(frozen)]);
  const back = { source: bobToken, destination: aliceToken, authority: bob, amount: 1n };
  await send('failedToken', bob, [getTransferInstruction(back)]);
  await send('thaw', alice, [getThawAccountInstruction(frozen)]);
  const burn = { account: bobToken, mint: mint.address, authority: bob, amount: 1_000_000n };
  await send('burn', bob, [getBurnInstruction(burn)]);
  await send('wrap', bob, [
    createTokenAccount(bob, wsol, bob, address(WRAPPED_SOL)),
    transferSol(bob, wsol, 2n * SOL),
    getSyncNativeInstruction({ account: wsol }),
  ]);
  const close = { account: wsol, destination: bob.address, owner: bob };
  await send('unwrap', bob, [getCloseAccountInstruction(close)]);

  const coin: Coin = {
    mint: mint22,
    program: token2022,
    decimals: 9,
    name: 'Example Coin',
    symbol: 'EXC',
    uri: 'https://example.invalid/exc.json',
    transferFeeBps: 50,
  };
  const onMint = (...data: readonly (readonly number[] | ReadonlyUint8Array)[]): Instruction => ({
    programAddress: token2022,
    accounts: [{ address: mint22.address, role: AccountRole.WRITABLE }],
    data: concatBytes(...data),
  });
  const mintAuthority = { mint: mint22.address, decimals: 9, mintAuthority: alice.address };
  await send('createMint22', alice, [
    create(mint22, MINT_22_BYTES, token2022, 700),
    setTransferFee(coin, alice.address),
    onMint([25, 1], encodeAddress(alice.address)),
    onMint([35], encodeAddress(carol.address)),
    onMint([33, 0], encodeAddress(alice.address), getI16Encoder().encode(300)),
    pointToOwnMetadata(coin, alice.address),
    getInitializeMintInstruction(mintAuthority, { programAddress: token2022 }),
    writeMetadata(coin, alice),
  ]);
  const minted = { mint: mint22.address, token: alice22, mintAuthority: alice, amount: 1_000_000_000_000n };
  await send('mint22To', alice, [
    createTokenAccount(alice, alice22, alice, mint22.address, token2022),
    createTokenAccount(alice, carol22, carol, mint22.address, token2022),
    getMintToInstruction(minted, { programAddress: token2022 }),
  ]);
  const amount = getU64Encoder().encode(400_000n);
  await send('fee22', alice, [
    {
      programAddress: token2022,
      accounts: [
        { address: alice22, role: AccountRole.WRITABLE },
        { address: mint22.address, role: AccountRole.READONLY },
        { address: carol22, role: AccountRole.WRITABLE },
        signer(alice),
      ],
      data: concatBytes([26, 1], amount, [9], getU64Encoder().encode(2000n)),
    },
  ]);

  await send('createNonce', alice, [
    create(nonce, 80, address(SYSTEM_PROGRAM)),
    getInitializeNonceAccountInstruction({ nonceAccount: nonce.address, nonceAuthority: alice.address }),
  ]);
  const nonceValue = chain.account(nonce.address, 'processed')?.data.subarray(40, 72) ?? new Uint8Array(32);
  const advance = getAdvanceNonceAccountInstruction({ nonceAccount: nonce.address, nonceAuthority: alice });
  await send('durable', alice, [advance, transferSol(alice, carol.address, 42n)], {
    blockhash: bs58.encode(nonceValue),
  });
  await send('delegate', alice, createAndDelegateStake(alice, stake, vote));

  const plan = await planLookupTable(alice, chain.slot('finalized'), [bob.address, carol.address, mint.address]);
  await send('createTable', alice, [...plan.instructions]);
  await send('v0', alice, [transferSol(alice, carol.address, 77n)], {
    lookupTables: { [plan.address]: [bob.address, carol.address, mint.address] },
  });
  return { ...names, airdrop: first, table: plan.address };
}

/** Creates a stake account of 5 SOL and delegates it. */
function createAndDelegateStake(owner: Keypair, stake: Keypair, vote: Address): Instruction[] {
  const programAddress = address('Stake11111111111111111111111111111111111111');
  const read = (account: string) => ({ address: address(account), role: AccountRole.READONLY });
  const write = { address: stake.address, role: AccountRole.WRITABLE };
  const u64 = getU64Encoder();
  const noLockup = concatBytes(getI64Encoder().encode(0n), u64.encode(0n), new Uint8Array(32));
  return [
    getCreateAccountInstruction({
      payer: owner,
      newAccount: stake,
      space: STAKE_BYTES,
      lamports: 5n * SOL,
      programAddress,
    }),
    {
      programAddress,
      accounts: [write, read('SysvarRent111111111111111111111111111111111')],
      data: concatBytes([0, 0, 0, 0], encodeAddress(owner.address), encodeAddress(owner.address), noLockup),
    },
    {
      programAddress,
      accounts: [
        write,
        read(vote),
        read('SysvarC1ock11111111111111111111111111111111'),
        read('SysvarStakeHistory1111111111111111111111111'),
        read('StakeConfig11111111111111111111111111111111'),
        signer(owner),
      ],
      data: concatBytes([2, 0, 0, 0]),
    },
  ];
}

const encodeAddress = (address: Address): ReadonlyUint8Array => getAddressEncoder().encode(address);
const signer = (owner: Keypair) => ({ address: owner.address, role: AccountRole.READONLY_SIGNER, signer: owner });
const concatBytes = (...parts: readonly (readonly number[] | ReadonlyUint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
