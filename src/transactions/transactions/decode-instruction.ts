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
import { LOADER_INSTRUCTIONS, LOADER_V4_INSTRUCTIONS, UPGRADEABLE_LOADER_INSTRUCTIONS } from './loader-instructions.ts';
import { STAKE_INSTRUCTIONS } from './stake-instructions.ts';
import { SYSTEM_INSTRUCTIONS } from './system-instructions.ts';
import { BATCH_TAG, splitBatch } from './token-batch.ts';
import { EXTENSION_INSTRUCTIONS, NESTED_EXTENSION_INSTRUCTIONS } from './token-extension-instructions.ts';
import { TOKEN_GROUP_INSTRUCTIONS } from './token-group-instructions.ts';
import { setAuthorityLayout, TOKEN_INSTRUCTIONS } from './token-instructions.ts';
import { TOKEN_METADATA_INSTRUCTIONS } from './token-metadata-instructions.ts';
import { MAX_INSTRUCTIONS } from './transaction-bounds.ts';
import { VOTE_INSTRUCTIONS } from './vote-instructions.ts';

const CREATE_ACCOUNTS = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram'];

/** Instructions of the associated-token program by their one-byte tag; empty data means the first. */
const ASSOCIATED_TOKEN_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: 'create', accounts: CREATE_ACCOUNTS },
  1: { type: 'createIdempotent', accounts: CREATE_ACCOUNTS },
  2: {
    type: 'recoverNested',
    accounts: ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram'],
  },
};

/** Instructions of the compute-budget program by their one-byte tag. Nodes don't parse them; the names are the SDK's. */
const COMPUTE_BUDGET_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: 'requestUnits',
    accounts: [],
    data: (reader) => ({ units: reader.u32(), additionalFee: reader.u32() }),
  },
  1: { type: 'requestHeapFrame', accounts: [], data: (reader) => ({ bytes: reader.u32() }) },
  2: { type: 'setComputeUnitLimit', accounts: [], data: (reader) => ({ units: reader.u32() }) },
  3: { type: 'setComputeUnitPrice', accounts: [], data: (reader) => ({ microLamports: reader.u64() }) },
  4: { type: 'setLoadedAccountsDataSizeLimit', accounts: [], data: (reader) => ({ bytes: reader.u32() }) },
};

const TABLE_ACCOUNTS = ['lookupTableAccount', 'lookupTableAuthority'];
const PAYER_ACCOUNTS = ['payerAccount', 'systemProgram'];

/** Instructions of the address-lookup-table program by their four-byte tag. */
const LOOKUP_TABLE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: {
    type: 'createLookupTable',
    accounts: [...TABLE_ACCOUNTS, ...PAYER_ACCOUNTS],
    data: (reader) => ({ recentSlot: reader.u64(), bumpSeed: reader.u8() }),
  },
  1: { type: 'freezeLookupTable', accounts: TABLE_ACCOUNTS },
  2: {
    type: 'extendLookupTable',
    accounts: TABLE_ACCOUNTS,
    optional: PAYER_ACCOUNTS,
    data: (reader) => {
      reader.u64(); // the length of the list, which runs to the end
      return { newAddresses: reader.untilEnd(() => reader.pubkey()) };
    },
  },
  3: { type: 'deactivateLookupTable', accounts: TABLE_ACCOUNTS },
  4: { type: 'closeLookupTable', accounts: [...TABLE_ACCOUNTS, 'recipient'] },
};

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

type LayoutTable = Readonly<Record<number, InstructionLayout>>;

const byU32Tag = (name: string, layouts: LayoutTable): ProgramParser => ({
  name,
  findLayout: (reader) => layouts[reader.u32()],
});
const byU8Tag = (name: string, layouts: LayoutTable): ProgramParser => ({
  name,
  findLayout: (reader) => layouts[reader.u8()],
});

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

const tokenProgram: ProgramParser = {
  name: 'spl-token',
  findLayout: (reader) => {
    const tag = reader.u8();
    if (tag === BATCH_TAG) return batchLayout(TOKEN_PROGRAM);
    if (tag === 6) return setAuthorityLayout(reader.peek(1)[0]);
    const family = NESTED_EXTENSION_INSTRUCTIONS[tag];
    return family === undefined ? (TOKEN_INSTRUCTIONS[tag] ?? EXTENSION_INSTRUCTIONS[tag]) : family[reader.u8()];
  },
};

const token2022Program: ProgramParser = {
  name: tokenProgram.name,
  findLayout: (reader) => {
    if (reader.peek(1)[0] === BATCH_TAG) {
      reader.u8();
      return batchLayout(TOKEN_2022_PROGRAM);
    }
    const discriminator = bytesToHex(reader.peek(8));
    const layout = TOKEN_GROUP_INSTRUCTIONS[discriminator] ?? TOKEN_METADATA_INSTRUCTIONS[discriminator];
    if (layout === undefined) return tokenProgram.findLayout(reader);
    reader.bytes(8);
    return layout;
  },
};

const associatedTokenProgram: ProgramParser = {
  name: 'spl-associated-token-account',
  findLayout: (reader) => ASSOCIATED_TOKEN_INSTRUCTIONS[reader.remaining === 0 ? 0 : reader.u8()],
};

const memoProgram: ProgramParser = {
  name: 'spl-memo',
  findLayout: () => ({ type: 'memo', accounts: [], data: (reader) => ({ memo: reader.remainingText() }) }),
};

const PROGRAM_PARSERS: ReadonlyMap<string, ProgramParser> = new Map([
  [SYSTEM_PROGRAM, byU32Tag('system', SYSTEM_INSTRUCTIONS)],
  [TOKEN_PROGRAM, tokenProgram],
  [TOKEN_2022_PROGRAM, token2022Program],
  [ASSOCIATED_TOKEN_PROGRAM, associatedTokenProgram],
  [MEMO_PROGRAM, memoProgram],
  [MEMO_V1_PROGRAM, memoProgram],
  [COMPUTE_BUDGET_PROGRAM, byU8Tag('compute-budget', COMPUTE_BUDGET_INSTRUCTIONS)],
  [LOOKUP_TABLE_PROGRAM, byU32Tag('address-lookup-table', LOOKUP_TABLE_INSTRUCTIONS)],
  [STAKE_PROGRAM, byU32Tag('stake', STAKE_INSTRUCTIONS)],
  [VOTE_PROGRAM, byU32Tag('vote', VOTE_INSTRUCTIONS)],
  [UPGRADEABLE_LOADER, byU32Tag('bpf-upgradeable-loader', UPGRADEABLE_LOADER_INSTRUCTIONS)],
  [LOADER_V1, byU32Tag('bpf-loader', LOADER_INSTRUCTIONS)],
  [LOADER_V2, byU32Tag('bpf-loader', LOADER_INSTRUCTIONS)],
  [LOADER_V4, byU32Tag('loader-v4', LOADER_V4_INSTRUCTIONS)],
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
