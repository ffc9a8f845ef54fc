import { sha256 } from '@noble/hashes/sha2.js';
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
} from '../../shared/domain/well-known-addresses.ts';
import { toTokenAmount } from '../accounts/ui-amount.ts';
import { ByteReader } from '../codec/byte-reader.ts';
import { type FormatAmount, type InstructionLayout, type ParsedInfo, readInfo } from './instruction-layout.ts';
import { LAYOUTS } from './layouts.ts';
import { BATCH_TAG, splitBatch } from './token-batch.ts';
import { MAX_INSTRUCTIONS } from './transaction-bounds.ts';

/** An instruction's `type` and `info` as in a node's `jsonParsed`. */
export interface JsonParsedInstruction {
  readonly type: string;
  readonly info: ParsedInfo;
}

interface ProgramParser {
  readonly name: string;
  /** Returns the layout for the tag at `reader` and advances past the tag. */
  readonly findLayout: (reader: ByteReader) => InstructionLayout | undefined;
}

/** Finds layouts by a number in front of the data. */
const byTag = (name: string, readTag: (reader: ByteReader) => number): ProgramParser => ({
  name,
  findLayout: (reader) => LAYOUTS.get(name)?.get(`${readTag(reader)}`),
});
const byU32Tag = (name: string): ProgramParser => byTag(name, (reader) => reader.u32());

/** Returns the layout of a batch, which a node decodes only if it can decode all instructions in it. */
const batchLayout = (programId: string): InstructionLayout => ({
  type: 'batch',
  accounts: [],
  data: (reader, formatAmount, accounts) => ({
    instructions: splitBatch(accounts, reader.remainingBytes(), MAX_INSTRUCTIONS).map((instruction) => {
      const decoded = decodeInstruction(programId, instruction.accounts, instruction.data, formatAmount);
      if (decoded === null) throw new RangeError('an instruction of the batch is not known');
      return decoded;
    }),
  }),
});

const TOKEN_LAYOUTS = LAYOUTS.get('spl-token');
const SET_AUTHORITY_TAG = 6;
/** The rights over token accounts; all others are rights over mints. */
const ACCOUNT_RIGHTS: readonly (number | undefined)[] = [2, 3];

const tokenProgram: ProgramParser = {
  name: 'spl-token',
  findLayout: (reader) => {
    const tag = reader.u8();
    if (tag === BATCH_TAG) return batchLayout(TOKEN_PROGRAM);
    if (tag === SET_AUTHORITY_TAG)
      return TOKEN_LAYOUTS?.get(`${tag}.${ACCOUNT_RIGHTS.includes(reader.peek(1)[0]) ? 'account' : 'mint'}`);
    return TOKEN_LAYOUTS?.get(`${tag}`) ?? TOKEN_LAYOUTS?.get(`${tag}.${reader.u8()}`);
  },
};

/** Returns the eight-byte discriminator of an SPL interface's instruction, in hex. */
const splDiscriminator = (name: string): string => bytesToHex(sha256(new TextEncoder().encode(name)).subarray(0, 8));

/** Instructions of interfaces that Token-2022 implements, by their discriminator in hex. */
const INTERFACE_LAYOUTS: ReadonlyMap<string, InstructionLayout> = new Map(
  [...(LAYOUTS.get('token-interfaces') ?? [])].map(([name, layout]) => [splDiscriminator(name), layout]),
);

const token2022Program: ProgramParser = {
  name: tokenProgram.name,
  findLayout: (reader) => {
    if (reader.peek(1)[0] === BATCH_TAG) {
      reader.u8();
      return batchLayout(TOKEN_2022_PROGRAM);
    }
    const layout = INTERFACE_LAYOUTS.get(bytesToHex(reader.peek(8)));
    if (layout === undefined) return tokenProgram.findLayout(reader);
    reader.bytes(8);
    return layout;
  },
};

/** Empty data means the first instruction. */
const associatedTokenProgram = byTag('spl-associated-token-account', (reader) =>
  reader.remaining === 0 ? 0 : reader.u8(),
);

const memoProgram: ProgramParser = { name: 'spl-memo', findLayout: () => LAYOUTS.get('spl-memo')?.get('-') };

const PROGRAM_PARSERS: ReadonlyMap<string, ProgramParser> = new Map([
  [SYSTEM_PROGRAM, byU32Tag('system')],
  [TOKEN_PROGRAM, tokenProgram],
  [TOKEN_2022_PROGRAM, token2022Program],
  [ASSOCIATED_TOKEN_PROGRAM, associatedTokenProgram],
  [MEMO_PROGRAM, memoProgram],
  [MEMO_V1_PROGRAM, memoProgram],
  [COMPUTE_BUDGET_PROGRAM, byTag('compute-budget', (reader) => reader.u8())],
  [LOOKUP_TABLE_PROGRAM, byU32Tag('address-lookup-table')],
  [STAKE_PROGRAM, byU32Tag('stake')],
  [VOTE_PROGRAM, byU32Tag('vote')],
  [UPGRADEABLE_LOADER, byU32Tag('bpf-upgradeable-loader')],
  [LOADER_V1, byU32Tag('bpf-loader')],
  [LOADER_V2, byU32Tag('bpf-loader')],
  [LOADER_V4, byU32Tag('loader-v4')],
]);

/** Returns a node's name for a program whose instructions can be decoded. */
export const parsableProgramName = (programId: string): string | null => PROGRAM_PARSERS.get(programId)?.name ?? null;

/** Decodes a raw instruction. Null if its program is unknown or would refuse it. */
export function decodeInstruction(
  programId: string,
  accounts: readonly string[],
  data: Uint8Array,
  formatAmount: FormatAmount = toTokenAmount,
): JsonParsedInstruction | null {
  try {
    const reader = new ByteReader(data);
    const layout = PROGRAM_PARSERS.get(programId)?.findLayout(reader);
    return layout === undefined ? null : { type: layout.type, info: readInfo(layout, accounts, reader, formatAmount) };
  } catch {
    return null; // nodes return it raw too
  }
}
