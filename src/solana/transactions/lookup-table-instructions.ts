import type { InstructionLayout } from './instruction-layout.ts';

const TABLE_ACCOUNTS = ['lookupTableAccount', 'lookupTableAuthority'];
const PAYER_ACCOUNTS = ['payerAccount', 'systemProgram'];

/** Instructions of the address-lookup-table program by their four-byte tag. */
export const LOOKUP_TABLE_INSTRUCTIONS: Readonly<Record<number, InstructionLayout>> = {
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
