import type { InstructionLayout } from './instruction-layout.ts';

/** Instructions of the compute-budget program by their one-byte tag. Nodes don't parse them; the names are the SDK's. */
export const COMPUTE_BUDGET_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
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
