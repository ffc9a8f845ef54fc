import {
  AccountRole,
  type Address,
  addEncoderSizePrefix,
  getAddressEncoder,
  getU16Encoder,
  getU32Encoder,
  getU64Encoder,
  getUtf8Encoder,
  type Instruction,
  type ReadonlyUint8Array,
} from '@solana/web3.js';
import type { Coin } from './cast.ts';
import type { Keypair } from './keypair.ts';

/** Bytes of a mint with a metadata pointer, before its metadata is added; the fee makes it longer. */
export const mintSize = ({ transferFee }: Coin): number => MINT + POINTER + (transferFee === undefined ? 0 : FEE);

const MINT = 166; // padded to the size of an account, and one byte that says it is a mint
const POINTER = 4 + 64;
const FEE = 4 + 108;

const addressEncoder = getAddressEncoder();
const text = addEncoderSizePrefix(getUtf8Encoder(), getU32Encoder());

/** Makes the mint its own metadata account. Before the mint is initialized. */
export function pointToOwnMetadata({ mint, program }: Coin, authority: Address): Instruction {
  const data = bytes([39, 0], addressEncoder.encode(authority), addressEncoder.encode(mint.address));
  return { programAddress: program, accounts: [{ address: mint.address, role: AccountRole.WRITABLE }], data };
}

/** Sets what a transfer costs. Before the mint is initialized. */
export function setTransferFee({ mint, program, transferFee = 0 }: Coin, authority: Address): Instruction {
  const owner = bytes([1], addressEncoder.encode(authority));
  const fee = bytes(getU16Encoder().encode(transferFee), getU64Encoder().encode(MAX_FEE));
  const data = bytes([26, 0], owner, owner, fee);
  return { programAddress: program, accounts: [{ address: mint.address, role: AccountRole.WRITABLE }], data };
}

const MAX_FEE = 1_000_000_000n;

/** Writes name, symbol and URI into the mint, which must hold the lamports for them. */
export function writeMetadata({ mint, program, name, symbol, uri }: Coin, authority: Keypair): Instruction {
  return {
    programAddress: program,
    accounts: [
      { address: mint.address, role: AccountRole.WRITABLE },
      { address: authority.address, role: AccountRole.READONLY },
      { address: mint.address, role: AccountRole.READONLY },
      signerMeta(authority),
    ],
    data: bytes(INITIALIZE_METADATA, text.encode(name), text.encode(symbol), text.encode(uri)),
  };
}

/** sha256("spl_token_metadata_interface:initialize_account"), the first eight bytes. */
const INITIALIZE_METADATA = [210, 225, 30, 162, 88, 184, 77, 141];

const signerMeta = (signer: Keypair) => ({ address: signer.address, role: AccountRole.READONLY_SIGNER, signer });

const bytes = (...parts: readonly (readonly number[] | ReadonlyUint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
