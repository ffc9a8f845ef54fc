import type { Action } from '../analysis/action.ts';
import type { AssetAmount } from '../analysis/asset-amount.ts';
import { grouped } from '../analysis/grouped.ts';
import {
  hasAsides,
  type Interpreted,
  type SupplyInterpretation,
  type TransferInterpretation,
} from '../analysis/interpretation.ts';
import type { NetChange } from '../analysis/net-change.ts';
import type { Payment } from '../analysis/payments.ts';
import { tipRelayOf } from '../programs/tip-accounts.ts';
import { programPhrase } from './program-phrase.ts';
import {
  bySize,
  type FormatAddress,
  formatAccounts,
  formatAmounts,
  formatFlows,
  formatSol,
  joinPhrases,
  ofOwner,
  YOU,
} from './sentence-formats.ts';

export function describeTransfer(
  { actor, program, payments, tips, gained, lost, asides }: Interpreted<TransferInterpretation>,
  formatAddress: FormatAddress,
): string {
  if (payments.length > 0) return describePayments(payments, 'sent', formatAddress).join('; ');
  const flows = formatFlows({ received: gained, paid: lost }, formatAddress);
  if (flows !== '') return `${formatAddress(actor)} ${flows}${programPhrase(program, 'through', formatAddress)}`;
  if (tips.length === 0) return `${formatAddress(actor)} made a transfer that changed no balance`;
  const paid = grouped(tips, ({ from }) => from).map((group) => describeTip(group, formatAddress));
  return `${paid.join('; ')}${hasAsides(asides) || paid.length > 1 ? '' : ' and did nothing else'}`;
}

/** Describes the tips of one wallet. */
export function describeTip(tips: readonly Payment[], formatAddress: FormatAddress): string {
  const relays = [...new Set(tips.flatMap(({ to }) => tipRelayOf(to) ?? []))];
  return `${formatAddress(tips[0]?.from ?? '')} paid a tip of ${formatSol(sumOf(tips))} to ${joinPhrases(relays)}`;
}

export const sumOf = (payments: readonly Payment[]): bigint => payments.reduce((sum, { amount }) => sum + amount, 0n);

/** Most receivers of one sender of which each is named; of more the largest of each mint is. */
const MAX_RECEIVERS = 3;

/** How receivers are named: wallets, or new accounts. */
type Into = 'to' | 'into' | 'of rent for';

/** Describes payments in a phrase for each sender, the largest first: small ones hide no large one. */
export const describePayments = (
  payments: readonly Payment[],
  verb: string,
  formatAddress: FormatAddress,
  into: Into = 'to',
): readonly string[] =>
  grouped(payments.toSorted(bySize), ({ from, authority, program }) => `${from} ${authority} ${program}`).map((group) =>
    describeSender(group, verb, formatAddress, into),
  );

/** Names who moved what a wallet had, and behind what it was whose, where somebody else signed for it. */
export function moverOf(
  wallet: string,
  mover: Pick<Action, 'authority' | 'role'> | null,
  formatAddress: FormatAddress,
) {
  const { authority, role } = mover ?? { authority: null };
  if (authority === null) return { who: formatAddress(wallet), ofWallet: '' };
  const who = `${formatAddress(authority)}${role === 'delegate' ? ', as delegate,' : ''}`;
  return { who, ofWallet: ofOwner(wallet, formatAddress) };
}

/** Describes what one wallet sent, or what a delegate moved of it. */
function describeSender(payments: readonly Payment[], verb: string, formatAddress: FormatAddress, into: Into): string {
  const [first] = payments;
  if (first === undefined) return '';
  const { from, authority, program } = first;
  const { who, ofWallet } = moverOf(from, first, formatAddress);
  return `${who} ${authority === null ? verb : 'moved'} ${receiversPhrase(payments, authority ?? from, ofWallet, formatAddress, into)}${programPhrase(program, 'through', formatAddress)}`;
}

/** Says what each receiver got, the largest first. `owner`: of whom it was, if somebody else moved it. */
export function receiversPhrase(
  payments: readonly Pick<Payment, keyof AssetAmount | 'to' | 'withheld'>[],
  mover: string,
  owner: string,
  formatAddress: FormatAddress,
  into: Into = 'to',
): string {
  const byReceiver = grouped(payments, ({ to }) => to);
  const itself = formatAddress(mover) === YOU ? 'yourself' : 'itself';
  const receiver = (to: string): string => {
    const name = to === mover ? itself : formatAddress(to);
    return into !== 'into' ? name : name === YOU ? 'your new account' : `the new account ${name}`;
  };
  const toReceiver = (group: typeof payments): string => {
    const isWithheld = group.some(({ withheld }) => withheld > 0n);
    const arrived = group
      .map((payment) => ({ ...payment, amount: payment.amount - payment.withheld }))
      .filter(({ amount }) => amount > 0n);
    const rest = arrived.length === 0 ? 'nothing' : formatAmounts(arrived, formatAddress);
    return `${formatAmounts(group, formatAddress)}${owner} ${into} ${receiver(group[0]?.to ?? '')}${isWithheld ? `, of which ${rest} arrived` : ''}`;
  };
  const isLargest = (group: typeof payments): boolean =>
    group.some((payment) => payments.find(({ mint }) => mint === payment.mint) === payment);
  const named = byReceiver.length > MAX_RECEIVERS ? byReceiver.filter(isLargest) : byReceiver;
  const others = byReceiver.filter((group) => !named.includes(group)).flat();
  const rest =
    others.length === 0
      ? []
      : [
          `a total of ${formatAmounts(others, formatAddress)} ${into} ${byReceiver.length - named.length} more accounts`.replace(
            / 1 more accounts$/,
            ' one more account',
          ),
        ];
  return joinPhrases([...named.map(toReceiver), ...rest]);
}

export function describeMint(interpretation: SupplyInterpretation, formatAddress: FormatAddress): string {
  const { actor, program, amounts } = interpretation;
  const minted = amounts.map((change) => ({ ...change, to: change.holder ?? actor, withheld: 0n })).toSorted(bySize);
  const isOwn = minted.every(({ to }) => to === actor);
  const what = isOwn ? formatAmounts(amounts, formatAddress) : receiversPhrase(minted, actor, '', formatAddress);
  return `${formatAddress(actor)} minted ${what}${pricePhrase(interpretation, formatAddress)}${programPhrase(program, 'with', formatAddress)}`;
}

export function describeBurn(
  { actor, program, amounts, gained }: SupplyInterpretation,
  formatAddress: FormatAddress,
): string {
  const holders = new Set(amounts.map(({ holder }) => holder ?? actor));
  const receiver = holders.has(actor) ? '' : ` ${formatAddress(actor)}`;
  const proceeds = gained.length === 0 ? '' : ` and${receiver} received ${formatAmounts(gained, formatAddress)}`;
  return `${formatAccounts(holders, formatAddress)} burned ${formatAmounts(amounts, formatAddress)}${proceeds}${programPhrase(program, 'with', formatAddress)}`;
}

/** Returns ` for 0.5 SOL`, or nothing if nothing was paid. */
const pricePhrase = ({ lost }: NetChange, formatAddress: FormatAddress): string =>
  lost.length === 0 ? '' : ` for ${formatAmounts(lost, formatAddress)}`;
