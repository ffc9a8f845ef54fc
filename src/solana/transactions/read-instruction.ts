import { bytesToHex } from '@noble/hashes/utils.js';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V1,
  LOADER_V2,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../domain/well-known-addresses.ts';
import { tokenAmount } from '../accounts/ui-amount.ts';
import { ByteReader } from '../codec/byte-reader.ts';
import { ASSOCIATED_TOKEN_INSTRUCTIONS } from './associated-token.ts';
import { COMPUTE_BUDGET_INSTRUCTIONS } from './compute-budget.ts';
import { type Fields, fieldsOf, type Layout, type SpellAmount } from './layout.ts';
import { LOADER_INSTRUCTIONS, LOADER_V4_INSTRUCTIONS, UPGRADEABLE_LOADER_INSTRUCTIONS } from './loader.ts';
import { LOOKUP_TABLE_INSTRUCTIONS } from './lookup-table.ts';
import { STAKE_INSTRUCTIONS } from './stake.ts';
import { SYSTEM_INSTRUCTIONS } from './system.ts';
import { setAuthorityLayout, TOKEN_INSTRUCTIONS } from './token.ts';
import { EXTENSION_FAMILIES, EXTENSION_INSTRUCTIONS } from './token-extensions.ts';
import { METADATA_INSTRUCTIONS } from './token-metadata.ts';
import { VOTE_INSTRUCTIONS } from './vote.ts';

/** What an instruction says, in a node's words: `type` and `info` are those of `jsonParsed`. */
export interface Parsed {
  readonly type: string;
  readonly info: Fields;
}

interface Program {
  readonly name: string;
  /** Finds the layout by the tag that `read` stands at, and leaves `read` behind the tag. */
  readonly layout: (read: ByteReader) => Layout | undefined;
}

type Layouts = Readonly<Record<number, Layout>>;

const byTag = (name: string, layouts: Layouts): Program => ({ name, layout: (read) => layouts[read.u32()] });
const byByte = (name: string, layouts: Layouts): Program => ({ name, layout: (read) => layouts[read.u8()] });

const token: Program = {
  name: 'spl-token',
  layout: (read) => {
    const tag = read.u8();
    if (tag === 6) return setAuthorityLayout(read.peek(1)[0]);
    const family = EXTENSION_FAMILIES[tag];
    return family === undefined ? (TOKEN_INSTRUCTIONS[tag] ?? EXTENSION_INSTRUCTIONS[tag]) : family[read.u8()];
  },
};

const tokenOrMetadata: Program = {
  name: token.name,
  layout: (read) => {
    const metadata = METADATA_INSTRUCTIONS[bytesToHex(read.peek(8))];
    if (metadata === undefined) return token.layout(read);
    read.bytes(8);
    return metadata;
  },
};

const associatedToken: Program = {
  name: 'spl-associated-token-account',
  layout: (read) => ASSOCIATED_TOKEN_INSTRUCTIONS[read.left === 0 ? 0 : read.u8()],
};

const memo: Program = {
  name: 'spl-memo',
  layout: () => ({ type: 'memo', accounts: [], data: (read) => ({ memo: read.text() }) }),
};

const PROGRAMS: ReadonlyMap<string, Program> = new Map([
  [SYSTEM_PROGRAM, byTag('system', SYSTEM_INSTRUCTIONS)],
  [TOKEN_PROGRAM, token],
  [TOKEN_2022_PROGRAM, tokenOrMetadata],
  [ASSOCIATED_TOKEN_PROGRAM, associatedToken],
  [MEMO_PROGRAM, memo],
  [MEMO_V1_PROGRAM, memo],
  [COMPUTE_BUDGET_PROGRAM, byByte('compute-budget', COMPUTE_BUDGET_INSTRUCTIONS)],
  [LOOKUP_TABLE_PROGRAM, byTag('address-lookup-table', LOOKUP_TABLE_INSTRUCTIONS)],
  [STAKE_PROGRAM, byTag('stake', STAKE_INSTRUCTIONS)],
  [VOTE_PROGRAM, byTag('vote', VOTE_INSTRUCTIONS)],
  [UPGRADEABLE_LOADER, byTag('bpf-upgradeable-loader', UPGRADEABLE_LOADER_INSTRUCTIONS)],
  [LOADER_V1, byTag('bpf-loader', LOADER_INSTRUCTIONS)],
  [LOADER_V2, byTag('bpf-loader', LOADER_INSTRUCTIONS)],
  [LOADER_V4, byTag('loader-v4', LOADER_V4_INSTRUCTIONS)],
]);

/** The name that a node has for a program, where it reads its instructions. */
export const nodesNameOf = (programId: string): string | null => PROGRAMS.get(programId)?.name ?? null;

/** Reads a raw instruction. Null when its program is unknown, or when it is not what its program takes. */
export function readInstruction(
  programId: string,
  accounts: readonly string[],
  data: Uint8Array,
  spell: SpellAmount = tokenAmount,
): Parsed | null {
  try {
    const read = new ByteReader(data);
    const layout = PROGRAMS.get(programId)?.layout(read);
    return layout === undefined ? null : { type: layout.type, info: fieldsOf(layout, accounts, read, spell) };
  } catch {
    return null; // a node shows it raw then, too
  }
}
