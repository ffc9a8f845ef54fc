import type { Answer } from '../../../shared/domain/answer.ts';
import { COMMITMENTS } from '../../../shared/domain/commitment.ts';
import type { Envelope } from '../../../shared/domain/envelope.ts';
import { making, settle } from '../../../shared/runtime/waiter.ts';
import { accountBytes } from '../../live/accounts/account-json.ts';
import type { PastAccountsRead } from '../../live/accounts/past-accounts.ts';
import type { AccountRead, AccountShape } from '../../upstream/reads/account-batcher.ts';
import { address, agree, commitment, PAST_ERRORS, pastSlot } from './params.ts';
import { agreeFor, isDemanded } from './request-scope.ts';
import type { ReadRoute, RouteLiterals } from './route.ts';

const params = { addr: address, commitment: commitment('confirmed', COMMITMENTS), agree, slot: pastSlot };

interface AccountRouteDeclaration<R, Path, E>
  extends RouteLiterals<Path, E>,
    Pick<ReadRoute<typeof params, R>, 'summary' | 'result' | 'mostUnitsOf' | 'isExact'> {
  readonly shape: AccountShape;
  answerOf(read: AccountRead, address: string): Answer<R>;
  /** Makes that of a long one in turns of the event loop; undefined for one that isn't. Default: none is. */
  longAnswerOf?(read: AccountRead, address: string): Promise<Answer<R>> | undefined;
}

/** Declares a route about one account. It answers in the call in which the account is there. */
export function accountRoute<R, const Path extends `/${string}`, const E extends Envelope>({
  shape,
  answerOf,
  longAnswerOf,
  ...declaration
}: AccountRouteDeclaration<R, Path, E>): ReadRoute<typeof params, R> & RouteLiterals<Path, E> {
  return {
    kind: 'read',
    params,
    cache: { slots: 2 },
    pastSlotOf: ({ slot }) => slot,
    errors: ['invalid_address', 'no_agreement', ...PAST_ERRORS],
    ...declaration,

    begin(given, { liveAccounts, pastAccounts, operators }, scope, waiter) {
      const { addr: address, commitment, slot } = given;
      const { minSlot: minContextSlot, cost } = scope;
      const account = making((read: AccountRead) => longAnswerOf?.(read, address) ?? answerOf(read, address), waiter);
      if (slot !== undefined) {
        settle(() => pastAccounts.read([address], { slot, commitment, cost }).then(readOfPast), account);
        return;
      }
      const agree = agreeFor(scope, { operators }, declaration.isExact?.(given) === true);
      const mustAgree = isDemanded(scope);
      liveAccounts.readTo({ address, shape, commitment, minContextSlot, cost, agree, mustAgree }, account);
    },

    resolveLive({ addr: address, commitment }, live, minContextSlot) {
      const read = live.readLive({ address, shape, commitment, minContextSlot }); // accounts that are kept live are short
      return read && answerOf(read, address);
    },
  };
}

const readOfPast = ({ slot, agreement, lease, accounts: [account] }: PastAccountsRead): AccountRead => ({
  slot,
  agreement,
  lease,
  account: accountBytes(account?.json() ?? null),
});
