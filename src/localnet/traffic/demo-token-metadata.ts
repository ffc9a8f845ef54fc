import type { Address } from '@solana/web3.js';
import bs58 from 'bs58';
import { METADATA_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { Account } from '../bank/svm-account.ts';
import type { Coin } from './demo-accounts.ts';

export const METADATA_ACCOUNT_BYTES = 679;

/** Encodes a text padded with NULs to a fixed length; its size prefix counts the padding. */
function paddedText(text: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(4 + size);
  bytes.writeUInt32LE(size);
  bytes.write(text, 4);
  return bytes;
}

/** As Metaplex would create it for a classic mint: its program is not part of LiteSVM, and nothing changes metadata. */
export function createMetadataAccount(
  { mint, name, symbol, uri }: Coin,
  updateAuthority: Address,
  lamports: bigint,
): Account {
  const members = [
    Uint8Array.of(4), // MetadataV1
    bs58.decode(updateAuthority),
    bs58.decode(mint.address),
    paddedText(name, 32),
    paddedText(symbol, 10),
    paddedText(uri, 200),
    Uint8Array.of(0, 0, 0), // no royalty and no creators
    Uint8Array.of(0, 1), // no primary sale yet; it can be changed
    Uint8Array.of(0, 1, 2), // no edition; a token standard, which is fungible
  ];
  return { lamports, owner: METADATA_PROGRAM, executable: false, data: Buffer.concat(members, METADATA_ACCOUNT_BYTES) };
}
