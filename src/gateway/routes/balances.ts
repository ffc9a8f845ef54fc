import * as z from 'zod';
import type { Answer } from '../../shared/domain/answer.ts';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { unitsOfAddresses } from '../../shared/domain/units.ts';
import type { BalancesRead } from '../upstream/reads/account-batcher.ts';
import { addresses, agree as agreeParam, commitment, PAST_ERRORS, pastSlot } from './routing/params.ts';
import { agreeFor, isDemanded } from './routing/request-scope.ts';
import { readRoute, SMALL_READ_UNITS, type Uses } from './routing/route.ts';
import { lamports } from './routing/schemas.ts';

/** The most addresses of a request: more don't fit into the longest canonical request. */
const MAX_ADDRESSES = 40;

const result = z.array(z.strictObject({ address: z.string(), ...lamports }));

type Balances = z.infer<typeof result>;

export const balances = readRoute({
  path: '/balances',
  summary: 'The SOL balances of several accounts at one slot, in the order of the request',
  params: {
    addresses: addresses(MAX_ADDRESSES),
    commitment: commitment('confirmed', COMMITMENTS),
    agree: agreeParam,
    slot: pastSlot,
  },
  result,
  mostUnitsOf: ({ addresses }) => SMALL_READ_UNITS + unitsOfAddresses(addresses.length),
  envelope: 'signed',
  cache: { slots: 2 },
  isExact: ({ commitment }) => commitment === 'finalized',
  missUnitPrice: '1 for each started 10 addresses that a node is read for beyond the first',
  pastSlotOf: ({ slot }) => slot,
  errors: ['invalid_address', 'no_agreement', ...PAST_ERRORS],

  async resolve(
    { addresses, commitment, slot },
    context: Uses<'liveAccounts' | 'operators' | 'pastAccounts'>,
    scope,
  ): Promise<Answer<Balances>> {
    const { minSlot, cost } = scope;
    if (slot !== undefined) {
      const past = await context.pastAccounts.read(addresses, { slot, commitment, cost });
      return answerOf(addresses, { ...past, lamports: past.accounts.map(({ lamports }) => lamports) });
    }
    const agree = agreeFor(scope, context, commitment === 'finalized');
    const mustAgree = isDemanded(scope);
    const query = { addresses, commitment, minContextSlot: minSlot, cost, agree, mustAgree };
    return answerOf(addresses, await context.liveAccounts.readBalances(query));
  },

  resolveLive({ addresses, commitment }, live, minSlot) {
    const read = live.readLiveBalances({ addresses, commitment, minContextSlot: minSlot });
    return read && answerOf(addresses, read);
  },
});

function answerOf(
  addresses: readonly string[],
  { slot, provenFrom, agreement, lamports, lease }: BalancesRead,
): Answer<Balances> {
  const result = addresses.map((address, i) => {
    const balance = lamports[i] ?? 0n; // one for each
    return { address, lamports: balance, sol: toSol(balance) };
  });
  return { slot, provenFrom, agreement, lease, result };
}
