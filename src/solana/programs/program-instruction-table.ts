import type { TransactionType } from './transaction-types.ts';

/** An instruction of a program: its name, what it is for, and the positions of the accounts that matter by role. */
export interface InstructionRow {
  readonly name: string;
  /** Null if its name alone doesn't tell what a transaction did. */
  readonly type: TransactionType | null;
  readonly roles?: Readonly<Record<string, number>>;
}

/** The instructions of a program by the first bytes of their data, in hexadecimal. */
export interface ProgramInstructions {
  /** Bytes of a discriminator: 8 for Anchor, 1 for most others. */
  readonly discriminatorLength: number;
  readonly instructions: Readonly<Record<string, InstructionRow>>;
}

/** Instructions by program. */
export const PROGRAM_INSTRUCTIONS: Readonly<Record<string, ProgramInstructions>> = {
  // https://github.com/metaplex-foundation/mpl-bubblegum (`bubblegum.json`)
  BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY: {
    discriminatorLength: 8,
    instructions: {
      '9162c076b8937668': { name: 'mint_v1', type: 'COMPRESSED_NFT_MINT' },
      '9912b22fc59e560f': { name: 'mint_to_collection_v1', type: 'COMPRESSED_NFT_MINT' },
      '78791792ad6ec7cd': { name: 'mint_v2', type: 'COMPRESSED_NFT_MINT' },
      a334c8e78c0345ba: { name: 'transfer', type: 'COMPRESSED_NFT_TRANSFER' },
      '772806ebeaddf831': { name: 'transfer_v2', type: 'COMPRESSED_NFT_TRANSFER' },
      '746e1d386bdb2a5d': { name: 'burn', type: 'COMPRESSED_NFT_BURN' },
    },
  },
};
