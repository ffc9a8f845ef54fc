import { z } from 'zod';
import { COMMITMENTS } from '../domain/commitment.ts';
import { toSol } from '../domain/sol-amount.ts';
import { address, commitment } from '../routing/params.ts';
import { readRoute, SMALL_READ_UNITS, type Uses } from '../routing/route.ts';
import { lamports } from '../routing/schemas.ts';
import { parseAccountLamports } from '../upstream/reads/account-info.ts';

export const balance = readRoute({
  path: '/balance/:addr',
  summary: "The SOL balance of an account; 0 if it doesn't exist",
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS) },
  result: z.strictObject(lamports),
  mostUnitsOf: () => SMALL_READ_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  isExact: ({ commitment }) => commitment === 'finalized',
  errors: ['invalid_address'],

  async resolve({ addr, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const query = { address: addr, shape: 'lamports', commitment, minContextSlot: minSlot } as const;
    const { slot, account, lease } = await liveAccounts.read(query);
    const lamports = account === null ? 0n : parseAccountLamports(account);
    return { slot, lease: lease, result: { lamports, sol: toSol(lamports) } };
  },
});
