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
import type { Coin } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';

/** Returns the size of a mint with a metadata pointer, before its metadata is added; a transfer fee makes it longer. */
export const mintBytes = ({ transferFeeBps }: Coin): number =>
  MINT_BYTES + POINTER_BYTES + (transferFeeBps === undefined ? 0 : FEE_BYTES);

const MINT_BYTES = 166; // padded to the size of a token account, and one byte for the kind of account
const POINTER_BYTES = 4 + 64;
const FEE_BYTES = 4 + 108;

const addressEncoder = getAddressEncoder();
const textEncoder = addEncoderSizePrefix(getUtf8Encoder(), getU32Encoder());

/** Makes the mint its own metadata account. Must precede the initialization of the mint. */
export function pointToOwnMetadata({ mint, program }: Coin, authority: Address): Instruction {
  const data = concatBytes([39, 0], addressEncoder.encode(authority), addressEncoder.encode(mint.address));
  return { programAddress: program, accounts: [{ address: mint.address, role: AccountRole.WRITABLE }], data };
}

/** Sets the transfer fee. Must precede the initialization of the mint. */
export function setTransferFee({ mint, program, transferFeeBps = 0 }: Coin, authority: Address): Instruction {
  const owner = concatBytes([1], addressEncoder.encode(authority));
  const fee = concatBytes(getU16Encoder().encode(transferFeeBps), getU64Encoder().encode(MAX_FEE));
  const data = concatBytes([26, 0], owner, owner, fee);
  return { programAddress: program, accounts: [{ address: mint.address, role: AccountRole.WRITABLE }], data };
}

const MAX_FEE = 1_000_000_000n;

/** Writes name, symbol and URI into the mint, which must have the lamports for them. */
export function writeMetadata({ mint, program, name, symbol, uri }: Coin, authority: Keypair): Instruction {
  return {
    programAddress: program,
    accounts: [
      { address: mint.address, role: AccountRole.WRITABLE },
      { address: authority.address, role: AccountRole.READONLY },
      { address: mint.address, role: AccountRole.READONLY },
      signerMeta(authority),
    ],
    data: concatBytes(
      INITIALIZE_METADATA,
      textEncoder.encode(name),
      textEncoder.encode(symbol),
      textEncoder.encode(uri),
    ),
  };
}

/** First eight bytes of sha256("spl_token_metadata_interface:initialize_account"). */
const INITIALIZE_METADATA = [210, 225, 30, 162, 88, 184, 77, 141];

const signerMeta = (signer: Keypair) => ({ address: signer.address, role: AccountRole.READONLY_SIGNER, signer });

const concatBytes = (...parts: readonly (readonly number[] | ReadonlyUint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
