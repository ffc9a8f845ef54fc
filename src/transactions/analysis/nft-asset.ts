import { METADATA_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { findProgramAddress } from '../accounts/program-derived-address.ts';
import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import { decodeKey } from '../codec/base58-key.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { KNOWN_PROGRAMS } from '../programs/known-programs.ts';
import { findProgramInstruction, type ProgramInstruction } from '../programs/program-instruction.ts';
import { type Action, actionOf } from './action.ts';
import { allInstructions, type ParsedInstruction } from './parsed-transaction.ts';

export const BUBBLEGUM = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';
export const METAPLEX_CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d';
const NOOP_PROGRAMS: readonly string[] = [
  'noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV',
  'mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3',
];

/** Names of Metaplex' enum `TokenStandard`, and of the kind of asset that Core makes. */
export const NFT_STANDARDS = ['NonFungible', 'NonFungibleEdition', 'ProgrammableNonFungible', 'MplCoreAsset'] as const;

export type TokenStandard = (typeof NFT_STANDARDS)[number];

/** An NFT: its mint, or the id of an asset that has none. */
export interface Nft {
  /** Null for a compressed one whose id the transaction doesn't name. */
  readonly mint: string | null;
  /** Null if the transaction doesn't show it. */
  readonly tokenStandard: TokenStandard | null;
}

/** Something that a call did to an NFT beside its token accounts. */
export interface AssetCall extends Nft {
  readonly type: ProgramInstruction['type'];
  readonly from: string | null;
  readonly to: string | null;
  /** The delegate that may have signed in the place of the owner; null if none is named. */
  readonly delegate: string | null;
  /** The program that is credited: that of the top-level instruction if it is known. */
  readonly program: string;
  /** Positions of the top-level instruction and of the inner one. */
  readonly step: number;
  readonly inner: number | null;
}

/** Most asset ids that are derived for a transaction: each costs a fraction of a millisecond. */
const MAX_DERIVED_IDS = 16;

/** Returns the actions that calls on NFTs in no token account were; none for one that was made and has no known id. */
export const assetActions = (calls: readonly AssetCall[], signers: readonly string[]): Action[] =>
  calls.flatMap(({ type, mint, from, to, delegate, program, step, inner }) =>
    !/NFT_(MINT|TRANSFER)$|BURN/.test(type ?? '') || (from === null && mint === null)
      ? []
      : actionOf('asset', from ?? to ?? '', {
          counterparty: from === null ? null : to,
          [from === null ? 'got' : 'given']: mint === null ? [] : [{ mint, amount: 1n, decimals: 0 }],
          program,
          instruction: [step, inner],
          ...(from !== null && delegate !== null && !signers.includes(from) && signers.includes(delegate)
            ? { authority: delegate, role: 'delegate' }
            : {}),
        }),
  );

/** Finds what was done to NFTs that are in no token account: those of Core and compressed ones. */
export const findAssetCalls = oncePer((instructions: readonly ParsedInstruction[]): readonly AssetCall[] => {
  let derived = 0;
  return instructions.flatMap((topLevel) => {
    const { index: step, programId: caller } = topLevel;
    const calls = [topLevel, ...topLevel.innerInstructions];
    return calls.flatMap((call, place): AssetCall[] => {
      if (call.programId !== BUBBLEGUM && call.programId !== METAPLEX_CORE) return [];
      const instruction = findProgramInstruction(call);
      if (instruction === null || instruction.type === null) return [];
      const { type, roles } = instruction;
      const program = KNOWN_PROGRAMS.has(caller) ? caller : call.programId;
      const common = { type, ...ownersOf(instruction), program, step, inner: place === 0 ? null : place - 1 };
      if (call.programId === METAPLEX_CORE)
        return [{ ...common, mint: roles.mint ?? null, tokenStandard: 'MplCoreAsset' }];
      const written = type.endsWith('BURN') ? null : findWrittenId(calls, place); // a burn writes none
      const isDerived = written === null && roles.tree !== undefined && derived < MAX_DERIVED_IDS;
      if (isDerived) derived += 1;
      const mint = isDerived ? deriveAssetId(call, instruction, roles.tree ?? '') : written;
      return [{ ...common, mint, tokenStandard: 'NonFungible' }];
    });
  });
});

function ownersOf({ type, roles }: ProgramInstruction): Pick<AssetCall, 'from' | 'to' | 'delegate'> {
  const owner = roles.owner ?? roles.user ?? null;
  const delegate = roles.user ?? null;
  switch (type) {
    case 'NFT_MINT':
    case 'COMPRESSED_NFT_MINT':
      return { from: null, to: owner, delegate };
    case 'NFT_TRANSFER':
    case 'COMPRESSED_NFT_TRANSFER':
      return { from: owner, to: roles.newOwner ?? null, delegate };
    default:
      return { from: owner, to: null, delegate };
  }
}

/** Finds the id that Bubblegum writes about a leaf through the Noop program, before its next call. */
function findWrittenId(calls: readonly ParsedInstruction[], place: number): string | null {
  for (let next = place + 1; next < calls.length; next++) {
    const call = calls[next];
    if (call === undefined || call.programId === BUBBLEGUM) return null;
    if (!NOOP_PROGRAMS.includes(call.programId)) continue;
    const id = readLeafEvent(call.data);
    if (id !== null) return id;
  }
  return null;
}

/**
 * Reads the asset's id from an event of Bubblegum; null for any other.
 * https://github.com/metaplex-foundation/mpl-bubblegum/blob/main/programs/bubblegum/program/src/state/leaf_schema.rs
 */
function readLeafEvent(data: string | null): string | null {
  if (data === null || data.length > MAX_EVENT_LENGTH) return null;
  const bytes = decodeBase58(data);
  if (bytes === undefined) return null;
  const id = tryDecode(bytes, (reader) => {
    const [kind, , ...length] = reader.bytes(6);
    const [event, , schema = 2] = reader.bytes(3);
    if (kind !== 1 || event !== 1 || schema > 1 || length.length !== 4) return null;
    return reader.pubkey();
  });
  return id ?? null;
}

/** The event of the second version, with its framing, is the longest: changes of the tree are much longer. */
const MAX_EVENT_LENGTH = maxBase58Length(320);

/** Derives the id of an asset from its tree and the nonce in a call's data; null for calls that have none. */
function deriveAssetId({ data }: ParsedInstruction, { name }: ProgramInstruction, tree: string): string | null {
  const key = decodeKey(tree);
  const bytes = data === null || data.length > MAX_EVENT_LENGTH ? undefined : decodeBase58(data);
  if (key === undefined || bytes === undefined || name.startsWith('mint')) return null;
  const nonce = tryDecode(bytes, (reader) => {
    reader.bytes(8 + 3 * 32); // root and hashes
    if (name.endsWith('_v2')) skipFlags(reader);
    return reader.bytes(8);
  });
  return nonce === undefined ? null : findProgramAddress(BUBBLEGUM, ['asset', key, nonce]);
}

function skipFlags(reader: ByteReader): void {
  reader.option(() => reader.bytes(32));
  reader.option(() => reader.u8());
}

/** Finds the standards that calls of Token Metadata show: a programmable NFT has a record beside its token account. */
export const findTokenStandards = oncePer((instructions: readonly ParsedInstruction[]) => {
  const standards = new Map<string, TokenStandard>();
  for (const call of allInstructions({ instructions })) {
    if (call.programId !== METADATA_PROGRAM) continue;
    const instruction = findProgramInstruction(call);
    const { mint, tokenRecord } = instruction?.roles ?? {};
    if (instruction === null || mint === undefined) continue;
    if (tokenRecord !== undefined) standards.set(mint, 'ProgrammableNonFungible');
    else if (/^print$|edition/.test(instruction.name)) standards.set(mint, 'NonFungibleEdition');
  }
  return standards;
});
