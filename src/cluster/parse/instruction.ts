import bs58 from 'bs58';
import { ByteReader } from '../../chain/byte-reader.ts';
import { type Fields, fieldsOf, type Layout } from '../../chain/instructions/layout.ts';
import { SYSTEM_INSTRUCTIONS } from '../../chain/instructions/system.ts';
import { METADATA_INSTRUCTIONS } from '../../chain/instructions/token-metadata.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  FIRST_MEMO_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../domain/programs.ts';
import { EXTENSION_FAMILIES, EXTENSION_INSTRUCTIONS } from './extension-instructions.ts';
import { ASSOCIATED_TOKEN_INSTRUCTIONS, LOOKUP_TABLE_INSTRUCTIONS, STAKE_INSTRUCTIONS } from './small-programs.ts';
import { setAuthorityLayout, TOKEN_INSTRUCTIONS } from './token-instructions.ts';

/** An instruction with its accounts spelled out. */
export interface Instruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

interface Program {
  readonly name: string;
  /** Finds the layout by the tag that `read` stands at, and leaves `read` behind the tag. */
  readonly layout: (read: ByteReader) => Layout | undefined;
}

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
    const metadata = METADATA_INSTRUCTIONS[Buffer.from(read.peek(8)).toString('hex')];
    if (metadata === undefined) return token.layout(read);
    read.bytes(8);
    return metadata;
  },
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  [SYSTEM_PROGRAM]: { name: 'system', layout: (read) => SYSTEM_INSTRUCTIONS[read.u32()] },
  [TOKEN_PROGRAM]: token,
  [TOKEN_2022_PROGRAM]: tokenOrMetadata,
  [ASSOCIATED_TOKEN_PROGRAM]: {
    name: 'spl-associated-token-account',
    layout: (read) => ASSOCIATED_TOKEN_INSTRUCTIONS[read.left === 0 ? 0 : read.u8()],
  },
  [LOOKUP_TABLE_PROGRAM]: {
    name: 'address-lookup-table',
    layout: (read) => LOOKUP_TABLE_INSTRUCTIONS[read.u32()],
  },
  [STAKE_PROGRAM]: {
    name: 'stake',
    layout: (read) => STAKE_INSTRUCTIONS[read.u32()],
  },
};

const MEMO_PROGRAMS: ReadonlySet<string> = new Set([MEMO_PROGRAM, FIRST_MEMO_PROGRAM]);

/** An instruction as `jsonParsed` shows it: by name where its program is known, else with raw data. */
export function parseInstruction({ programId, accounts, data, stackHeight }: Instruction): Fields {
  try {
    if (MEMO_PROGRAMS.has(programId)) {
      const parsed = new TextDecoder('utf-8', { fatal: true }).decode(data);
      return { program: 'spl-memo', programId, parsed, stackHeight };
    }
    const program = PROGRAMS[programId];
    const read = new ByteReader(data);
    const layout = program?.layout(read);
    if (program !== undefined && layout !== undefined) {
      const parsed = { type: layout.type, info: fieldsOf(layout, accounts, read) };
      return { program: program.name, programId, parsed, stackHeight };
    }
  } catch {
    // not what its program takes: a node shows it raw then, too
  }
  return { programId, accounts, data: bs58.encode(data), stackHeight };
}
