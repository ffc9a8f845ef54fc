import {
  type Address,
  addEncoderSizePrefix,
  address,
  fixEncoderSize,
  getAddressEncoder,
  getStructEncoder,
  getU8Encoder,
  getU16Encoder,
  getU32Encoder,
  getUtf8Encoder,
} from '@solana/web3.js';
import { METADATA_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { Account } from '../bank/svm-account.ts';
import type { Coin } from './demo-accounts.ts';

const program = address(METADATA_PROGRAM);
const addressEncoder = getAddressEncoder();

export const METADATA_ACCOUNT_BYTES = 679;

/** Encodes a text padded with NULs to a fixed length; its size prefix counts the padding. */
const paddedText = (size: number) => addEncoderSizePrefix(fixEncoderSize(getUtf8Encoder(), size), getU32Encoder());
const encoder = getStructEncoder([
  ['key', getU8Encoder()],
  ['updateAuthority', addressEncoder],
  ['mint', addressEncoder],
  ['name', paddedText(32)],
  ['symbol', paddedText(10)],
  ['uri', paddedText(200)],
  ['sellerFeeBasisPoints', getU16Encoder()],
  ['hasCreators', getU8Encoder()],
  ['primarySaleHappened', getU8Encoder()],
  ['isMutable', getU8Encoder()],
  ['hasEditionNonce', getU8Encoder()],
  ['hasTokenStandard', getU8Encoder()],
  ['tokenStandard', getU8Encoder()],
]);

/** As Metaplex would create it for a classic mint: its program is not part of LiteSVM, and nothing changes metadata. */
export function createMetadataAccount(
  { mint, name, symbol, uri }: Coin,
  updateAuthority: Address,
  lamports: bigint,
): Account {
  const data = new Uint8Array(METADATA_ACCOUNT_BYTES);
  data.set(
    encoder.encode({
      key: 4, // MetadataV1
      updateAuthority,
      mint: mint.address,
      name,
      symbol,
      uri,
      sellerFeeBasisPoints: 0,
      hasCreators: 0,
      primarySaleHappened: 0,
      isMutable: 1,
      hasEditionNonce: 0,
      hasTokenStandard: 1,
      tokenStandard: 2, // fungible
    }),
  );
  return { lamports, owner: program, executable: false, data };
}
