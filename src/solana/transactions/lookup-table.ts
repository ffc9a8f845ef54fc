import type { Layout } from './layout.ts';

const TABLE = ['lookupTableAccount', 'lookupTableAuthority'];
const PAYER = ['payerAccount', 'systemProgram'];

/** Instructions of the address-lookup-table program by their four-byte tag. */
export const LOOKUP_TABLE_INSTRUCTIONS: Readonly<Record<number, Layout>> = {
  0: {
    type: 'createLookupTable',
    accounts: [...TABLE, ...PAYER],
    data: (read) => ({ recentSlot: read.u64(), bumpSeed: read.u8() }),
  },
  1: { type: 'freezeLookupTable', accounts: TABLE },
  2: {
    type: 'extendLookupTable',
    accounts: TABLE,
    optional: PAYER,
    data: (read) => {
      read.u64(); // the length of the list, which goes on to the end
      return { newAddresses: read.toEnd(() => read.key()) };
    },
  },
  3: { type: 'deactivateLookupTable', accounts: TABLE },
  4: { type: 'closeLookupTable', accounts: [...TABLE, 'recipient'] },
};
