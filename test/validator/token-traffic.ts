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
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { ask, type Wallet } from './wallet.ts';

interface Mint {
  readonly program: Address;
  readonly address: Address;
}

/** A token account. Nothing is done with it before what was done last is confirmed, or lost. */
interface Held {
  readonly mint: Mint;
  readonly address: Address;
  owner: KeyPairSigner;
  readyMs: number;
}

/** So many accounts are open at a time. */
const MOST = 8;
/** By then a transaction is confirmed. */
const SETTLED_MS = 3000;

const one = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];

/** Opens, fills, empties, gives away and closes token accounts of two owners, under both token programs. */
export class TokenTraffic {
  readonly #url: string;
  readonly #wallet: Wallet;
  readonly #owners: readonly [KeyPairSigner, KeyPairSigner];
  readonly #mints: readonly Mint[];
  #held: Held[] = [];
  #operations = 0;

  private constructor(
    url: string,
    wallet: Wallet,
    owners: readonly [KeyPairSigner, KeyPairSigner],
    mints: readonly Mint[],
  ) {
    this.#url = url;
    this.#wallet = wallet;
    this.#owners = owners;
    this.#mints = mints;
  }

  static async open(url: string, wallet: Wallet): Promise<TokenTraffic> {
    const owners = [await generateKeyPairSigner(), await generateKeyPairSigner()] as const;
    const mints = await Promise.all(
      [TOKEN_PROGRAM, TOKEN_2022_PROGRAM].map((program) => openMint(wallet, address(program))),
    );
    return new TokenTraffic(url, wallet, owners, mints);
  }

  get owners(): readonly string[] {
    return this.#owners.map(({ address }) => address);
  }

  /** How many transactions were sent. */
  get operations(): number {
    return this.#operations;
  }

  /** Does something with one account, whichever can bear it. */
  async operate(): Promise<void> {
    const nowMs = performance.now();
    const ready = this.#held.filter(({ readyMs }) => readyMs <= nowMs);
    const chosen = one(ready);
    const dice = Math.random();
    if (chosen === undefined || (dice < 0.25 && this.#held.length < MOST)) {
      if (this.#held.length < MOST) await this.#open();
      return;
    }
    chosen.readyMs = nowMs + SETTLED_MS;
    const { mint, address, owner } = chosen;
    const at = { programAddress: mint.program };
    if (dice < 0.45) await this.#send([this.#fill(chosen)]);
    else if (dice < 0.6) {
      const destination = one(ready.filter((other) => other !== chosen && other.mint === mint)) ?? chosen;
      const transfer = { source: address, destination: destination.address, authority: owner, amount: 1n };
      destination.readyMs = chosen.readyMs;
      await this.#send([getTransferInstruction(transfer, at)]);
    } else if (dice < 0.7) {
      await this.#send([
        getBurnInstruction({ account: address, mint: mint.address, authority: owner, amount: 1n }, at),
      ]);
    } else if (dice < 0.85) {
      const [one, other] = this.#owners;
      chosen.owner = owner === one ? other : one;
      const authority = { authorityType: AuthorityType.AccountOwner, newAuthority: chosen.owner.address };
      await this.#send([getSetAuthorityInstruction({ owned: address, owner, ...authority }, at)]);
    } else await this.#close(chosen);
  }

  async #open(): Promise<void> {
    const [mint, owner] = [one(this.#mints), one(this.#owners)];
    if (mint === undefined || owner === undefined) return;
    const account = await generateKeyPairSigner();
    const held: Held = { mint, address: account.address, owner, readyMs: performance.now() + SETTLED_MS };
    this.#held.push(held);
    const at = { programAddress: mint.program };
    await this.#send([
      createInstruction(this.#wallet, account, 165, mint.program),
      getInitializeAccount3Instruction({ account: account.address, mint: mint.address, owner: owner.address }, at),
      this.#fill(held),
    ]);
  }

  async #close({ mint, address, owner }: Held): Promise<void> {
    this.#held = this.#held.filter((held) => held.address !== address);
    const at = { programAddress: mint.program };
    const config = { commitment: 'confirmed' };
    const { value } = await ask<{ value: { amount: string } }>(this.#url, 'getTokenAccountBalance', [address, config]);
    const amount = BigInt(value.amount);
    await this.#send([
      getBurnInstruction({ account: address, mint: mint.address, authority: owner, amount }, at),
      getCloseAccountInstruction({ account: address, destination: this.#wallet.signer.address, owner }, at),
    ]);
  }

  #fill({ mint, address }: Held) {
    const fill = { mint: mint.address, token: address, mintAuthority: this.#wallet.signer, amount: 10n };
    return getMintToInstruction(fill, { programAddress: mint.program });
  }

  async #send(instructions: Parameters<Wallet['send']>[0]): Promise<void> {
    this.#operations++;
    await this.#wallet.send(instructions);
  }
}

async function openMint(wallet: Wallet, program: Address): Promise<Mint> {
  const mint = await generateKeyPairSigner();
  const init = { mint: mint.address, decimals: 2, mintAuthority: wallet.signer.address };
  await wallet.send([
    createInstruction(wallet, mint, 82, program),
    getInitializeMint2Instruction(init, { programAddress: program }),
  ]);
  return { program, address: mint.address };
}

/** Enough that an account of any of these sizes costs no rent. */
const RENT = 3_000_000n;

const createInstruction = ({ signer }: Wallet, newAccount: KeyPairSigner, space: number, program: Address) =>
  getCreateAccountInstruction({ payer: signer, newAccount, lamports: RENT, space, programAddress: program });
