import bs58 from 'bs58';
import { METADATA_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import type { RawAccount } from '../codec/raw-account.ts';
import { withoutTrailing } from '../codec/without-trailing.ts';
import { addressBytes } from './address-bytes.ts';
import { findProgramAddress } from './program-derived-address.ts';

const METADATA_V1_KEY = 4;

export const TOKEN_STANDARDS = [
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
  /** Share of the royalties, in percent. */
  readonly share: number;
}

/** The content of a mint's Metaplex account. Texts are without their padding NULs. */
export interface MetaplexMetadata {
  readonly updateAuthority: string;
  readonly mint: string;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
  readonly sellerFeeBasisPoints: number;
  readonly creators: readonly Creator[] | null;
  readonly primarySaleHappened: boolean;
  readonly isMutable: boolean;
  /** Null in accounts older than the standard, and if the fields after the first part can't be read. */
  readonly tokenStandard: (typeof TOKEN_STANDARDS)[number] | null;
  readonly collection: { readonly verified: boolean; readonly key: string } | null;
}

/** Derives the address of a mint's Metaplex account. */
export const findMetadataAddress = (mint: string): string => findMetaplexAddress(mint);

/** Derives the address that has the rights over an NFT's mint. */
export const findEditionAddress = (mint: string): string => findMetaplexAddress(mint, 'edition');

const findMetaplexAddress = (mint: string, ...seeds: readonly string[]): string =>
  findProgramAddress(METADATA_PROGRAM, ['metadata', bs58.decode(METADATA_PROGRAM), addressBytes(mint), ...seeds]);

/**
 * Decodes a Metaplex metadata account; undefined if it is not one.
 * https://github.com/metaplex-foundation/mpl-token-metadata/blob/main/programs/token-metadata/program/src/state/metadata.rs
 */
export function decodeMetadata({ owner, data }: RawAccount): MetaplexMetadata | undefined {
  if (owner !== METADATA_PROGRAM || data[0] !== METADATA_V1_KEY) return undefined;
  return tryDecode(data, (reader) => {
    reader.u8();
    const coreFields = {
      updateAuthority: reader.pubkey(),
      mint: reader.pubkey(),
      name: readPaddedString(reader),
      symbol: readPaddedString(reader),
      uri: readPaddedString(reader),
      sellerFeeBasisPoints: reader.u16(),
      creators: reader.option(() => reader.vec(() => readCreator(reader))),
      primarySaleHappened: reader.bool(),
      isMutable: reader.bool(),
    };
    // From here on, old accounts may carry leftovers of longer lists; the program ignores them too.
    const laterFields = tryDecode(reader.remainingBytes(), readLaterFields);
    return { ...coreFields, ...(laterFields ?? { tokenStandard: null, collection: null }) };
  });
}

function readLaterFields(reader: ByteReader): Pick<MetaplexMetadata, 'tokenStandard' | 'collection'> {
  reader.option(() => reader.u8()); // the edition's bump
  const standard = reader.option(() => reader.u8());
  const tokenStandard = standard === null ? null : TOKEN_STANDARDS[standard];
  if (tokenStandard === undefined) throw new RangeError(`${standard} is no token standard`);
  return { tokenStandard, collection: reader.option(() => ({ verified: reader.bool(), key: reader.pubkey() })) };
}

const readCreator = (reader: ByteReader): Creator => ({
  address: reader.pubkey(),
  verified: reader.bool(),
  share: reader.u8(),
});

const readPaddedString = (reader: ByteReader): string => withoutTrailing(reader.borshString(), '\0');
