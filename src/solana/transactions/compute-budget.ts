import type { Layout } from './layout.ts';

/** Instructions of the compute-budget program by their one-byte tag. A node shows them raw; the names are the SDK's. */
export const COMPUTE_BUDGET_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'requestUnits',
    accounts: [],
    data: (read) => ({ units: read.u32(), additionalFee: read.u32() }),
  },
  1: { type: 'requestHeapFrame', accounts: [], data: (read) => ({ bytes: read.u32() }) },
  2: { type: 'setComputeUnitLimit', accounts: [], data: (read) => ({ units: read.u32() }) },
  3: { type: 'setComputeUnitPrice', accounts: [], data: (read) => ({ microLamports: read.u64() }) },
  4: { type: 'setLoadedAccountsDataSizeLimit', accounts: [], data: (read) => ({ bytes: read.u32() }) },
};
