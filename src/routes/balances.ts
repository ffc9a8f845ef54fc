import { z } from 'zod';
import type { Answer } from '../domain/answer.ts';
import { COMMITMENTS } from '../domain/commitment.ts';
import { toSol } from '../domain/sol-amount.ts';
import { addresses, commitment } from '../routing/params.ts';
import { readRoute, SMALL_READ_UNITS, type Uses } from '../routing/route.ts';
import { lamports } from '../routing/schemas.ts';
import type { BalancesRead } from '../upstream/reads/account-batcher.ts';

/** The most addresses of a request: more don't fit into the longest canonical request. */
const MAX_ADDRESSES = 40;

/** The addresses that one unit of the rate limit pays for. */
const ADDRESSES_PER_UNIT = 10;

const result = z.array(z.strictObject({ address: z.string(), ...lamports }));

type Balances = z.infer<typeof result>;

export const balances = readRoute({
  path: '/balances',
  summary: 'The SOL balances of several accounts at one slot, in the order asked; counts as a request per started 10',
  params: { addresses: addresses(MAX_ADDRESSES), commitment: commitment('confirmed', COMMITMENTS) },
  result,
  mostUnitsOf: () => SMALL_READ_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  isExact: ({ commitment }) => commitment === 'finalized',
  unitPrice: '1 for each started 10 addresses',
  unitsOf: ({ addresses }) => Math.ceil(addresses.length / ADDRESSES_PER_UNIT),
  errors: ['invalid_address'],

  async resolve({ addresses, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const query = { addresses, commitment, minContextSlot: minSlot };
    return answerOf(addresses, await liveAccounts.readBalances(query));
  },

  resolveLive({ addresses, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const read = liveAccounts.readLiveBalances({ addresses, commitment, minContextSlot: minSlot });
    return read && answerOf(addresses, read);
  },
});

function answerOf(addresses: readonly string[], { slot, lamports, lease }: BalancesRead): Answer<Balances> {
  const result = addresses.map((address, i) => {
    const balance = lamports[i] ?? 0n; // one for each
    return { address, lamports: balance, sol: toSol(balance) };
  });
  return { slot, lease, result };
}
