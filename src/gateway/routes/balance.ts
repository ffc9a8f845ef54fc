import { z } from 'zod';
import type { Answer } from '../../shared/domain/answer.ts';
import { COMMITMENTS, type Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import type { AccountQuery, AccountRead } from '../upstream/reads/account-batcher.ts';
import { parseAccountLamports } from '../upstream/reads/account-info.ts';
import { address, agree as agreeParam, commitment } from './routing/params.ts';
import { agreeFor, isDemanded } from './routing/request-scope.ts';
import { readRoute, SMALL_READ_UNITS, type Uses } from './routing/route.ts';
import { lamports } from './routing/schemas.ts';

const result = z.strictObject(lamports);

type Balance = z.infer<typeof result>;

export const balance = readRoute({
  path: '/balance/:addr',
  summary: "The SOL balance of an account; 0 if it doesn't exist",
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS), agree: agreeParam },
  result,
  mostUnitsOf: () => SMALL_READ_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  isExact: ({ commitment }) => commitment === 'finalized',
  errors: ['invalid_address', 'no_agreement'],

  async resolve({ addr, commitment }, context: Uses<'liveAccounts' | 'operators'>, scope) {
    const { minSlot, cost } = scope;
    const agree = agreeFor(scope, context, commitment === 'finalized');
    const mustAgree = isDemanded(scope);
    return answerOf(await context.liveAccounts.read({ ...queryOf(addr, commitment, minSlot), cost, agree, mustAgree }));
  },

  resolveLive({ addr, commitment }, { liveAccounts }: Uses<'liveAccounts'>, minSlot) {
    const read = liveAccounts.readLive(queryOf(addr, commitment, minSlot));
    return read && answerOf(read);
  },
});

const queryOf = (address: string, commitment: Commitment, minContextSlot: Slot | undefined): AccountQuery => ({
  address,
  shape: 'lamports',
  commitment,
  minContextSlot,
});

function answerOf({ slot, provenFrom, agreement, account, lease }: AccountRead): Answer<Balance> {
  const lamports = account === null ? 0n : parseAccountLamports(account);
  return { slot, provenFrom, agreement, lease, result: { lamports, sol: toSol(lamports) } };
}
