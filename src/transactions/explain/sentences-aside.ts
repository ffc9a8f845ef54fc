import { quotedInSentence } from '../../shared/domain/quoted-name.ts';
import type { Action } from '../analysis/action.ts';
import { toAmount } from '../analysis/action.ts';
import type { ConfidentialTransfer } from '../analysis/confidential-transfers.ts';
import { grouped } from '../analysis/grouped.ts';
import type { Asides, Interpreted } from '../analysis/interpretation.ts';
import type { Payment } from '../analysis/payments.ts';
import type { Clause } from './clauses.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatAmounts } from './sentence-formats.ts';
import { describeAuthorityChange } from './sentences-account.ts';
import { describePayments } from './sentences-movement.ts';

/** The most characters of a memo that a sentence has. */
const MAX_MEMO_CHARACTERS = 80;

/** How actions are described: of a sentence that says more, or alone. */
interface ActionFormat {
  /** Whose rights are named where no one else signed for them. */
  readonly actor: string;
  readonly formatAddress: FormatAddress;
  /** What stands before each deed, and before what is left. */
  readonly also?: string;
}

/** Describes what else the transaction did, each with its actor: losses and rights first, what came back last. */
export const describeAsides = ({ actor, asides }: Interpreted, formatAddress: FormatAddress): readonly Clause[] =>
  describeActions(asides, { actor, formatAddress, also: 'also ' });

/** Describes actions, changes that no action explains, and rights. */
export function describeActions(
  { actions, changes, rights, hiddenTransfers }: Omit<Asides, 'memos'>,
  format: ActionFormat,
): readonly Clause[] {
  if (actions.length + changes.length + rights.length + hiddenTransfers.length === 0) return [];
  const { actor, formatAddress, also = '' } = format;
  const ofKind = (...kinds: readonly Action['kind'][]): readonly Action[] =>
    actions.filter(({ kind }) => kinds.includes(kind));
  const payments = ofKind('transfer')
    .filter(({ counterparty }) => counterparty !== null)
    .map(toPayment);
  const alone = ofKind('transfer').filter(({ counterparty }) => counterparty === null);
  const lost = changes.filter(([, { amount }]) => amount < 0n);
  const gained = changes.filter(([, { amount }]) => amount > 0n);
  const more = also === '' ? '' : ' more';
  const losses = [
    ...describePayments(payments, `${also}sent`, formatAddress),
    ...lost.map(
      ([wallet, loss]) =>
        `${formatAmounts([{ ...loss, amount: -loss.amount }], formatAddress)}${more} left ${formatAddress(wallet)}`,
    ),
    ...alone.map((action) => describeSide(action, format)),
    ...rights.map((change) => {
      const who = formatAddress(change.owner ?? change.authority ?? actor);
      return `${who} ${also}${describeAuthorityChange(change, formatAddress)}`;
    }),
    ...ofKind('burn').map((burn) => describeSide(burn, format, 'burned')),
    ...ofKind('swap').map((swap) => describeSwapAside(swap, format)),
    ...hiddenTransfers.map((hidden) => describeHidden(hidden, formatAddress)),
    ...describeGroups(
      ofKind('close'),
      formatAddress,
      (what, owner, receiver) => `${owner} ${also}closed a token account, whose ${what} went to ${receiver}`,
    ),
    ...describeGroups(
      ofKind('rent'),
      formatAddress,
      (what, payer, accounts) => `${payer} ${also}paid ${what} of rent for ${accounts}`,
    ),
  ];
  const gains = [
    ...ofKind('mint', 'direct', 'withheldFee').map((gain) => describeSide(gain, format)),
    ...gained.map(([wallet, gain]) => `${formatAddress(wallet)} ${also}got ${formatAmounts([gain], formatAddress)}`),
  ];
  return [...losses.map((text) => ({ text })), ...gains.map((text) => ({ text, short: '' }))];
}

/** Returns the notes of a transaction in quotation marks: ` with the memo “12345”`. */
export function memoPhrase({ asides: { memos } }: Interpreted): string {
  const quoted = memos.flatMap((memo) => quotedInSentence(memo, MAX_MEMO_CHARACTERS) ?? []);
  return quoted.length === 0 ? '' : ` with the memo ${quoted.join(' and ')}`;
}

/** Returns the payment that a transfer was. */
function toPayment({ actor, counterparty, given, withheld, program, authority, instruction }: Action): Payment {
  const [amount] = given.map(toAmount);
  return {
    ...(amount ?? { mint: '', amount: 0n, decimals: 0 }),
    from: actor,
    to: counterparty ?? actor,
    withheld: BigInt(withheld ?? 0),
    program,
    step: instruction?.[0] ?? null,
    delegate: authority,
  };
}

/** Describes what one wallet gave or got, where no other party is known. */
function describeSide(
  { actor, given, got, program }: Action,
  { formatAddress, also = '' }: ActionFormat,
  verb = 'gave',
): string {
  const flows = [
    ...(given.length > 0 ? [`${verb} ${formatAmounts(given.map(toAmount), formatAddress)}`] : []),
    ...(got.length > 0 ? [`got ${formatAmounts(got.map(toAmount), formatAddress)}`] : []),
  ];
  return `${formatAddress(actor)} ${also}${flows.join(' and ')}${programPhrase(program, 'through', formatAddress)}`;
}

function describeSwapAside({ actor, given, got, program }: Action, { formatAddress, also = '' }: ActionFormat): string {
  const [gave, received] = [given, got].map((amounts) => formatAmounts(amounts.map(toAmount), formatAddress));
  return `${formatAddress(actor)} ${also}swapped ${gave} for ${received}${programPhrase(program, 'on', formatAddress)}`;
}

/** Describes actions of one kind in one phrase for each wallet that gave. */
function describeGroups(
  actions: readonly Action[],
  formatAddress: FormatAddress,
  phrase: (what: string, from: string, to: string) => string,
): readonly string[] {
  return grouped(actions, ({ actor }) => actor).map((group) => {
    const receivers = new Set(group.flatMap(({ counterparty }) => counterparty ?? []));
    const prefix = receivers.size > 1 ? 'a total of ' : '';
    const what = formatAmounts(
      group.flatMap(({ given }) => given.map(toAmount)),
      formatAddress,
    );
    return phrase(`${prefix}${what}`, formatAddress(group[0]?.actor ?? ''), formatAccounts(receivers, formatAddress));
  });
}

function describeHidden(
  { type, mint, fromUserAccount, fromTokenAccount, toUserAccount, toTokenAccount, amount }: ConfidentialTransfer,
  formatAddress: FormatAddress,
): string {
  const token = mint === null ? 'tokens' : `the token ${formatAddress(mint)}`;
  const [from, to] = [fromUserAccount ?? fromTokenAccount, toUserAccount ?? toTokenAccount].map((party) =>
    party === null ? 'somebody' : formatAddress(party),
  );
  const hiddenAmount = `a hidden amount of ${token}`;
  switch (type) {
    case 'mint':
      return `${hiddenAmount} was minted to ${to}`;
    case 'burn':
      return `${from} burned ${hiddenAmount}`;
    case 'deposit':
      return `${from} moved ${amount ?? 'some'} smallest units of ${token} into a hidden balance`;
    case 'withdraw':
      return `${from} moved ${amount ?? 'some'} smallest units of ${token} out of a hidden balance`;
    default:
      return from === 'somebody' ? `${to} got ${hiddenAmount}` : `${from} sent ${hiddenAmount} to ${to}`;
  }
}
