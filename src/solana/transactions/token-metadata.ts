import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { ByteReader } from '../codec/byte-reader.ts';
import { keyUnlessZero } from '../codec/pod.ts';
import type { Layout } from './layout.ts';

/** The eight bytes that name an instruction of the token-metadata interface. */
const discriminator = (name: string): string =>
  bytesToHex(sha256(new TextEncoder().encode(`spl_token_metadata_interface:${name}`)).subarray(0, 8));

const FIELDS = ['name', 'symbol', 'uri'];
const field = (read: ByteReader): string | undefined => {
  const kind = read.u8();
  return kind < FIELDS.length ? FIELDS[kind] : read.string();
};

/** Instructions of the token-metadata interface, which Token-2022 speaks too, by their eight-byte tag in hex. */
export const METADATA_INSTRUCTIONS: Readonly<Record<string, Layout>> = {
  [discriminator('initialize_account')]: {
    type: 'initializeTokenMetadata',
    accounts: ['metadata', 'updateAuthority', 'mint', 'mintAuthority'],
    data: (read) => ({ name: read.string(), symbol: read.string(), uri: read.string() }),
  },
  [discriminator('updating_field')]: {
    type: 'updateTokenMetadataField',
    accounts: ['metadata', 'updateAuthority'],
    data: (read) => ({ field: field(read), value: read.string() }),
  },
  [discriminator('remove_key_ix')]: {
    type: 'removeTokenMetadataKey',
    accounts: ['metadata', 'updateAuthority'],
    data: (read) => ({ idempotent: read.u8() === 1, key: read.string() }),
  },
  [discriminator('update_the_authority')]: {
    type: 'updateTokenMetadataAuthority',
    accounts: ['metadata', 'updateAuthority'],
    data: (read) => ({ newAuthority: keyUnlessZero(read) }),
  },
};
