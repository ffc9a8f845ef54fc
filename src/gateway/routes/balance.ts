import { z } from 'zod';
import type { Answer } from '../../shared/domain/answer.ts';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import type { AccountRead } from '../upstream/reads/account-batcher.ts';
import { parseAccountLamports } from '../upstream/reads/account-info.ts';
import { address, agree as agreeParam, commitment, PAST_ERRORS, pastSlot } from './routing/params.ts';
import { agreeFor, isDemanded } from './routing/request-scope.ts';
import { readRoute, SMALL_READ_UNITS, type Uses } from './routing/route.ts';
import { lamports } from './routing/schemas.ts';

const result = z.strictObject(lamports);

type Balance = z.infer<typeof result>;

export const balance = readRoute({
  path: '/balance/:addr',
  summary: "The SOL balance of an account; 0 if it doesn't exist",
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS), agree: agreeParam, slot: pastSlot },
  result,
  mostUnitsOf: () => SMALL_READ_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  isExact: ({ commitment }) => commitment === 'finalized',
  pastSlotOf: ({ slot }) => slot,
  errors: ['invalid_address', 'no_agreement', ...PAST_ERRORS],

  resolve(
    { addr: address, commitment, slot },
    context: Uses<'liveAccounts' | 'operators' | 'pastAccounts'>,
    scope,
  ): Promise<Answer<Balance>> {
    const { minSlot: minContextSlot, cost } = scope;
    if (slot !== undefined)
      return context.pastAccounts
        .read([address], { slot, commitment, cost })
        .then(({ accounts: [account], ...past }) => ({ ...past, result: resultOf(account?.lamports ?? 0n) }));
    const agree = agreeFor(scope, context, commitment === 'finalized');
    const mustAgree = isDemanded(scope);
    return context.liveAccounts
      .read({ address, shape: 'lamports', commitment, minContextSlot, cost, agree, mustAgree })
      .then(answerOf);
  },

  resolveLive({ addr: address, commitment }, { liveAccounts }: Uses<'liveAccounts'>, minContextSlot) {
    const read = liveAccounts.readLive({ address, shape: 'lamports', commitment, minContextSlot });
    return read && answerOf(read);
  },
});

function answerOf({ slot, provenFrom, agreement, account, lease }: AccountRead): Answer<Balance> {
  const lamports = account === null ? 0n : parseAccountLamports(account);
  return { slot, provenFrom, agreement, lease, result: resultOf(lamports) };
}

const resultOf = (lamports: bigint): Balance => ({ lamports, sol: toSol(lamports) });
