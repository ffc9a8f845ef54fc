import type { ByteReader } from '../codec/byte-reader.ts';
import { readOptionalPubkey } from '../codec/spl-pod.ts';
import type { InstructionLayout } from './instruction-layout.ts';
import { splDiscriminator } from './spl-discriminator.ts';

const discriminator = (name: string): string => splDiscriminator(`spl_token_metadata_interface:${name}`);

const FIELDS = ['name', 'symbol', 'uri'];
const readFieldName = (reader: ByteReader): string | undefined => {
  const kind = reader.u8();
  return kind < FIELDS.length ? FIELDS[kind] : reader.borshString();
};

/** Instructions of the token-metadata interface, which Token-2022 implements too, by discriminator in hex. */
export const TOKEN_METADATA_INSTRUCTIONS: Readonly<Record<string, InstructionLayout>> = {
  [discriminator('initialize_account')]: {
    type: 'initializeTokenMetadata',
    accounts: ['metadata', 'updateAuthority', 'mint', 'mintAuthority'],
    data: (reader) => ({ name: reader.borshString(), symbol: reader.borshString(), uri: reader.borshString() }),
  },
  [discriminator('updating_field')]: {
    type: 'updateTokenMetadataField',
    accounts: ['metadata', 'updateAuthority'],
    data: (reader) => ({ field: readFieldName(reader), value: reader.borshString() }),
  },
  [discriminator('remove_key_ix')]: {
    type: 'removeTokenMetadataKey',
    accounts: ['metadata', 'updateAuthority'],
    data: (reader) => ({ idempotent: reader.u8() === 1, key: reader.borshString() }),
  },
  [discriminator('update_the_authority')]: {
    type: 'updateTokenMetadataAuthority',
    accounts: ['metadata', 'updateAuthority'],
    data: (reader) => ({ newAuthority: readOptionalPubkey(reader) }),
  },
};
