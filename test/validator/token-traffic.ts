import { type Address, address, generateKeyPairSigner, type KeyPairSigner } from '@solana/web3.js';
import { getCreateAccountInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getBurnInstruction,
  getCloseAccountInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import type { FundedWallet } from './funded-wallet.ts';

interface Mint {
  readonly program: Address;
  readonly address: Address;
}

/** A token account. The next operation waits until the previous one is confirmed or lost. */
interface OpenTokenAccount {
  readonly mint: Mint;
  readonly address: Address;
  owner: KeyPairSigner;
  readyMs: number;
}

const MAX_OPEN_ACCOUNTS = 8;
/** Time after which a transaction is confirmed. */
const CONFIRMATION_MS = 3000;

const randomOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];

/** Opens, funds, burns, transfers and closes token accounts of two owners, under both token programs. */
export class TokenTraffic {
  readonly #url: string;
  readonly #wallet: FundedWallet;
  readonly #owners: readonly [KeyPairSigner, KeyPairSigner];
  readonly #mints: readonly Mint[];
  #openAccounts: OpenTokenAccount[] = [];
  #operations = 0;

  private constructor(
    url: string,
    wallet: FundedWallet,
    owners: readonly [KeyPairSigner, KeyPairSigner],
    mints: readonly Mint[],
  ) {
    this.#url = url;
    this.#wallet = wallet;
    this.#owners = owners;
    this.#mints = mints;
  }

  static async open(url: string, wallet: FundedWallet): Promise<TokenTraffic> {
    const owners = [await generateKeyPairSigner(), await generateKeyPairSigner()] as const;
    const mints = await Promise.all(
      [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => openMint(wallet, address(program))),
    );
    return new TokenTraffic(url, wallet, owners, mints);
  }

  get owners(): readonly string[] {
    return this.#owners.map(({ address }) => address);
  }

  get operations(): number {
    return this.#operations;
  }

  /** Performs a random operation on an account that is ready. */
  async doRandomOperation(): Promise<void> {
    const nowMs = performance.now();
    const ready = this.#openAccounts.filter(({ readyMs }) => readyMs <= nowMs);
    const chosen = randomOf(ready);
    const chance = Math.random();
    if (chosen === undefined || (chance < 0.25 && this.#openAccounts.length < MAX_OPEN_ACCOUNTS)) {
      if (this.#openAccounts.length < MAX_OPEN_ACCOUNTS) await this.#open();
      return;
    }
    chosen.readyMs = nowMs + CONFIRMATION_MS;
    const { mint, address, owner } = chosen;
    const programConfig = { programAddress: mint.program };
    if (chance < 0.45) await this.#send([this.#mintToInstruction(chosen)]);
    else if (chance < 0.6) {
      const destination = randomOf(ready.filter((other) => other !== chosen && other.mint === mint)) ?? chosen;
      const transfer = { source: address, destination: destination.address, authority: owner, amount: 1n };
      destination.readyMs = chosen.readyMs;
      await this.#send([getTransferInstruction(transfer, programConfig)]);
    } else if (chance < 0.7) {
      await this.#send([
        getBurnInstruction({ account: address, mint: mint.address, authority: owner, amount: 1n }, programConfig),
      ]);
    } else if (chance < 0.85) {
      const [randomOf, other] = this.#owners;
      chosen.owner = owner === randomOf ? other : randomOf;
      const authority = { authorityType: AuthorityType.AccountOwner, newAuthority: chosen.owner.address };
      await this.#send([getSetAuthorityInstruction({ owned: address, owner, ...authority }, programConfig)]);
    } else await this.#close(chosen);
  }

  async #open(): Promise<void> {
    const [mint, owner] = [randomOf(this.#mints), randomOf(this.#owners)];
    if (mint === undefined || owner === undefined) return;
    const account = await generateKeyPairSigner();
    const opened: OpenTokenAccount = {
      mint,
      address: account.address,
      owner,
      readyMs: performance.now() + CONFIRMATION_MS,
    };
    this.#openAccounts.push(opened);
    const programConfig = { programAddress: mint.program };
    await this.#send([
      createInstruction(this.#wallet, account, 165, mint.program),
      getInitializeAccount3Instruction(
        { account: account.address, mint: mint.address, owner: owner.address },
        programConfig,
      ),
      this.#mintToInstruction(opened),
    ]);
  }

  async #close({ mint, address, owner }: OpenTokenAccount): Promise<void> {
    this.#openAccounts = this.#openAccounts.filter((held) => held.address !== address);
    const programConfig = { programAddress: mint.program };
    const config = { commitment: 'confirmed' };
    const { value } = await rpcRequest<{ value: { amount: string } }>(this.#url, 'getTokenAccountBalance', [
      address,
      config,
    ]);
    const amount = BigInt(value.amount);
    await this.#send([
      getBurnInstruction({ account: address, mint: mint.address, authority: owner, amount }, programConfig),
      getCloseAccountInstruction({ account: address, destination: this.#wallet.signer.address, owner }, programConfig),
    ]);
  }

  #mintToInstruction({ mint, address }: OpenTokenAccount) {
    const fill = { mint: mint.address, token: address, mintAuthority: this.#wallet.signer, amount: 10n };
    return getMintToInstruction(fill, { programAddress: mint.program });
  }

  async #send(instructions: Parameters<FundedWallet['send']>[0]): Promise<void> {
    this.#operations++;
    await this.#wallet.send(instructions);
  }
}

async function openMint(wallet: FundedWallet, program: Address): Promise<Mint> {
  const mint = await generateKeyPairSigner();
  const init = { mint: mint.address, decimals: 2, mintAuthority: wallet.signer.address };
  await wallet.send([
    createInstruction(wallet, mint, 82, program),
    getInitializeMint2Instruction(init, { programAddress: program }),
  ]);
  return { program, address: mint.address };
}

/** Lamports that make an account of any of these sizes rent-exempt. */
const RENT = 3_000_000n;

const createInstruction = ({ signer }: FundedWallet, newAccount: KeyPairSigner, space: number, program: Address) =>
  getCreateAccountInstruction({ payer: signer, newAccount, lamports: RENT, space, programAddress: program });
