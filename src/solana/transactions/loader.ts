import type { Layout } from './layout.ts';

/** Instructions of the upgradeable loader by their four-byte tag; what is written is left out. Source: agave, `parse_bpf_loader.rs`. */
export const UPGRADEABLE_LOADER_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: { type: 'initializeBuffer', accounts: ['account'], optional: ['authority'] },
  1: { type: 'write', accounts: ['account', 'authority'], data: (read) => ({ offset: read.u32() }) },
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
    data: (read) => ({ maxDataLen: read.u64() }),
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
  4: { type: 'setAuthority', accounts: ['account', 'authority'], optional: ['newAuthority'] },
  5: { type: 'close', accounts: ['account', 'recipient', 'authority'], optional: ['programAccount'] },
  6: {
    type: 'extendProgram',
    accounts: ['programDataAccount', 'programAccount'],
    optional: ['systemProgram', 'payerAccount'],
    data: (read) => ({ additionalBytes: read.u32() }),
  },
  7: { type: 'setAuthorityChecked', accounts: ['account', 'authority', 'newAuthority'] },
  8: { type: 'migrate', accounts: ['programDataAccount', 'programAccount', 'authority'] },
  9: {
    type: 'extendProgramChecked',
    accounts: ['programDataAccount', 'programAccount', 'authority'],
    optional: ['systemProgram', 'payerAccount'],
    data: (read) => ({ additionalBytes: read.u32() }),
  },
};

/** Instructions of the two older loaders by their four-byte tag. Source: as above. */
export const LOADER_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: { type: 'write', accounts: ['account'], data: (read) => ({ offset: read.u32() }) },
  1: { type: 'finalize', accounts: ['account'] },
};

const v4 = (type: string, ...further: string[]): Layout => ({ type, accounts: ['programAccount', ...further] });

/** Instructions of loader v4 by their four-byte tag. Source: `solana-loader-v4-interface`. */
export const LOADER_V4_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: v4('write', 'authority'),
  1: v4('copy', 'authority', 'sourceAccount'),
  2: v4('setProgramLength', 'authority'),
  3: v4('deploy', 'authority'),
  4: v4('retract', 'authority'),
  5: v4('transferAuthority', 'authority', 'newAuthority'),
  6: v4('finalize', 'authority'),
};
