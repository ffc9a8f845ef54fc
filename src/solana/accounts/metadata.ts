import bs58 from 'bs58';
import { METADATA_PROGRAM } from '../../domain/well-known-addresses.ts';
import { type ByteReader, readBytes } from '../codec/byte-reader.ts';
import type { StoredAccount } from '../codec/stored-account.ts';
import { programAddress } from './program-address.ts';

const METADATA_V1 = 4;

const TOKEN_STANDARDS = [
  'NonFungible',
  'FungibleAsset',
  'Fungible',
  'NonFungibleEdition',
  'ProgrammableNonFungible',
  'ProgrammableNonFungibleEdition',
] as const;

interface Creator {
  readonly address: string;
  readonly verified: boolean;
  /** Percent of the royalties. */
  readonly share: number;
}

/** What Metaplex keeps of a mint beside it. Texts are without the NULs that fill them up. */
export interface Metadata {
  readonly updateAuthority: string;
  readonly mint: string;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly creators: readonly Creator[] | null;
  readonly primarySaleHappened: boolean;
  readonly isMutable: boolean;
  /** Null in accounts older than the standard, and where what follows the first part can't be read. */
  readonly tokenStandard: (typeof TOKEN_STANDARDS)[number] | null;
  readonly collection: { readonly verified: boolean; readonly key: string } | null;
}

/** Where Metaplex keeps what it knows of a mint. */
export const metadataAddress = (mint: string): string =>
  programAddress(METADATA_PROGRAM, ['metadata', bs58.decode(METADATA_PROGRAM), bs58.decode(mint)]);

/**
 * What a metadata account says; undefined when it is none.
 * https://github.com/metaplex-foundation/mpl-token-metadata/blob/main/programs/token-metadata/program/src/state/metadata.rs
 */
export function decodeMetadata({ owner, data }: StoredAccount): Metadata | undefined {
  if (owner !== METADATA_PROGRAM || data[0] !== METADATA_V1) return undefined;
  return readBytes(data, (from) => {
    from.u8();
    const first = {
      updateAuthority: from.key(),
      mint: from.key(),
      name: filled(from),
      symbol: filled(from),
      uri: filled(from),
      sellerFeeBasisPoints: from.u16(),
      creators: from.option(() => from.list(() => creator(from))),
      primarySaleHappened: from.bool(),
      isMutable: from.bool(),
    };
    // Old accounts may carry leftovers of longer lists from here on: the program too takes them for nothing.
    const later = readBytes(from.rest(), readLater);
    return { ...first, ...(later ?? { tokenStandard: null, collection: null }) };
  });
}

function readLater(from: ByteReader): Pick<Metadata, 'tokenStandard' | 'collection'> {
  from.option(() => from.u8()); // the edition's bump
  const standard = from.option(() => from.u8());
  const tokenStandard = standard === null ? null : TOKEN_STANDARDS[standard];
  if (tokenStandard === undefined) throw new RangeError(`${standard} is no token standard`);
  return { tokenStandard, collection: from.option(() => ({ verified: from.bool(), key: from.key() })) };
}

const creator = (from: ByteReader): Creator => ({ address: from.key(), verified: from.bool(), share: from.u8() });

const filled = (from: ByteReader): string => from.string().replace(/\0+$/, '');
