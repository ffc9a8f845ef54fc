import type { ByteReader } from '../codec/byte-reader.ts';
import type { InstructionLayout, ParsedInfo } from './instruction-layout.ts';

/** Reads how many bytes a program gets; nodes name the payer's accounts as null if they are left out. */
const readExtension = (reader: ByteReader, [systemProgram, payerAccount]: readonly string[]): ParsedInfo => ({
  additionalBytes: reader.u32(),
  systemProgram: systemProgram ?? null,
  payerAccount: payerAccount ?? null,
});

/**
 * Instructions of the upgradeable loader by their four-byte tag, without the bytes written. Source: agave,
 * `parse_bpf_loader.rs`.
 */
export const UPGRADEABLE_LOADER_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: 'initializeBuffer', accounts: ['account'], optional: ['authority'] },
  1: { type: 'write', accounts: ['account', 'authority'], data: (reader) => ({ offset: reader.u32() }) },
  2: {
    type: 'deployWithMaxDataLen',
    accounts: [
      'payerAccount',
      'programDataAccount',
      'programAccount',
      'bufferAccount',
      'rentSysvar',
      'clockSysvar',
      'systemProgram',
      'authority',
    ],
    data: (reader) => ({ maxDataLen: reader.u64() }),
  },
  3: {
    type: 'upgrade',
    accounts: [
      'programDataAccount',
      'programAccount',
      'bufferAccount',
      'spillAccount',
      'rentSysvar',
      'clockSysvar',
      'authority',
    ],
  },
  4: {
    type: 'setAuthority',
    accounts: ['account', 'authority'],
    data: (_, __, [, , newAuthority]) => ({ newAuthority: newAuthority ?? null }),
  },
  5: {
    type: 'close',
    accounts: ['account', 'recipient', 'authority'],
    data: (_, __, [, , , programAccount]) => ({ programAccount: programAccount ?? null }),
  },
  6: {
    type: 'extendProgram',
    accounts: ['programDataAccount', 'programAccount'],
    data: (reader, _, [, , ...payers]) => readExtension(reader, payers),
  },
  7: { type: 'setAuthorityChecked', accounts: ['account', 'authority', 'newAuthority'] },
  8: { type: 'migrate', accounts: ['programDataAccount', 'programAccount', 'authority'] },
  9: {
    type: 'extendProgramChecked',
    accounts: ['programDataAccount', 'programAccount', 'authority'],
    data: (reader, _, [, , , ...payers]) => readExtension(reader, payers),
  },
};

/** Instructions of the two older loaders by their four-byte tag. Source: agave, `parse_bpf_loader.rs`. */
export const LOADER_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: { type: 'write', accounts: ['account'], data: (read) => ({ offset: read.u32() }) },
  1: { type: 'finalize', accounts: ['account'] },
};

const v4Layout = (type: string, ...further: string[]): InstructionLayout => ({
  type,
  accounts: ['programAccount', ...further],
});

/** Instructions of loader v4 by their four-byte tag. Source: `solana-loader-v4-interface`. */
export const LOADER_V4_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
  0: v4Layout('write', 'authority'),
  1: v4Layout('copy', 'authority', 'sourceAccount'),
  2: v4Layout('setProgramLength', 'authority'),
  3: v4Layout('deploy', 'authority'),
  4: v4Layout('retract', 'authority'),
  5: v4Layout('transferAuthority', 'authority', 'newAuthority'),
  6: v4Layout('finalize', 'authority'),
};
