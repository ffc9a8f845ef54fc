import type { Action } from '../analysis/action.ts';
import { toAmount } from '../analysis/action.ts';
import type { AssetAmount } from '../analysis/asset-amount.ts';
import { type AuthorityChange, isStillOwned } from '../analysis/authority-changes.ts';
import type { ConfidentialTransfer } from '../analysis/confidential-transfers.ts';
import { grouped } from '../analysis/grouped.ts';
import { type Asides, hasAsides, type Interpreted } from '../analysis/interpretation.ts';
import { type Payment, paymentsIn, toPayment } from '../analysis/payments.ts';
import { quotedWords } from '../errors/quoted-words.ts';
import type { Clause } from './clauses.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAmounts, joinPhrases } from './sentence-formats.ts';
import { describeAuthorityChange, tokenLabel } from './sentences-account.ts';
import { describePayments, moverOf } from './sentences-movement.ts';
import { describeStake, MAX_MEMO_CHARACTERS } from './sentences-native.ts';
import { filledIn, wordsOf } from './words.ts';

/** How actions are described: of a sentence that says more, or alone. */
interface ActionFormat {
  readonly actor: string;
  /** Who gave a right for which nobody had to sign. Default: the actor. */
  readonly giver?: string;
  readonly formatAddress: FormatAddress;
  /** What stands before each deed, and before what is left. */
  readonly also?: string;
}

/** What is said of a record that lacks balances. */
export const INCOMPLETE: Clause = { text: 'the record lacks balances or calls that would show what moved' };

/** Describes actions, changes that no action explains, and rights, each with its actor: rights and losses first, what came back last. */
export function describeActions(
  asides: Omit<Asides, 'memos' | 'goFirst' | 'isIncomplete'>,
  format: ActionFormat,
): readonly Clause[] {
  const { actions, changes, rights, stakes, hiddenTransfers, unnamedTransfers } = asides;
  if (!hasAsides({ ...asides, isIncomplete: false })) return [];
  const { actor, giver = actor, formatAddress, also = '' } = format;
  const ofKind = (...kinds: readonly Action['kind'][]): readonly Action[] =>
    actions.filter(({ kind }) => kinds.includes(kind));
  const sent = ofKind('transfer', 'payout');
  const payments = paymentsIn(sent);
  const openings = (kind: 'rent' | 'funding'): readonly Payment[] =>
    paymentsIn(ofKind(kind)).map((payment) => ({ ...payment, program: null }));
  const alone = sent.filter((action) => toPayment(action) === null);
  const lost = changes.filter(([, { amount }]) => amount < 0n);
  const gained = changes.filter(([, { amount }]) => amount > 0n);
  const more = also === '' ? '' : ' more';
  const describeRight = (change: AuthorityChange): string => {
    const by = change.authority ?? change.owner ?? giver;
    return `${formatAddress(by)} ${also}${describeAuthorityChange(change, by, formatAddress)}`;
  };
  const losses = [
    ...rights.filter((change) => !isStillOwned(change)).map(describeRight),
    ...describePayments(payments, `${also}sent`, formatAddress),
    ...lost.map(
      ([wallet, loss]) =>
        `${formatAmounts([{ ...loss, amount: -loss.amount }], formatAddress)}${more} left ${formatAddress(wallet)}`,
    ),
    ...alone.map((action) => describeSide(action, format)),
    ...ofKind('withheldFee').map((fees) => describeSide(fees, format)),
    ...ofKind('burn').map((burn) => describeSide(burn, format, 'burned')),
    ...ofKind('asset').map((asset) => describeAsset(asset, format)),
    ...ofKind('swap').map((swap) => describeSwapAside(swap, format)),
    ...hiddenTransfers.map((hidden) => describeHidden(hidden, formatAddress)),
    ...(unnamedTransfers === 0
      ? []
      : [
          `the record does not name the tokens of ${unnamedTransfers === 1 ? 'one transfer' : `${unnamedTransfers} transfers`}`,
        ]),
    ...describeClosed(
      ofKind('close').filter((action) => !isFreed(action, actor)),
      formatAddress,
      also,
    ),
    ...rights.filter(isStillOwned).map(describeRight),
    ...describePayments(openings('rent'), `${also}paid`, formatAddress, 'of rent for'),
    ...describePayments(openings('funding'), `${also}put`, formatAddress, 'into'),
    ...stakes.map((stake) => describeStake(stake, formatAddress, also)),
    ...ofKind('mint').flatMap((made) => (made.actor === actor ? [] : describeSide(made, format))), // for what the actor gave
  ];
  const freed = ofKind('close').filter((action) => isFreed(action, actor));
  const gains = [
    ...ofKind('mint', 'direct').flatMap((gain) =>
      gain.kind === 'mint' && gain.actor !== actor ? [] : describeSide(gain, format),
    ),
    ...gained.map(([wallet, gain]) => `${formatAddress(wallet)} ${also}got ${formatAmounts([gain], formatAddress)}`),
    ...grouped(freed, ({ counterparty }) => counterparty ?? '').map(
      (group) =>
        `${formatAddress(group[0]?.counterparty ?? '')} ${also}got ${formatAmounts(givenIn(group), formatAddress)} of closed accounts`,
    ),
  ];
  return [...losses.map((text) => ({ text })), ...gains.map((text) => ({ text, short: '' }))];
}

/** Returns whether a program closed an account of its own, so that its lamports came to another one. */
const isFreed = ({ role, actor }: Action, subject: string): boolean => role === 'program' && actor !== subject;

/** Returns the notes of a transaction in quotation marks: ` with the memo “12345”`. */
export function memoPhrase({ asides: { memos } }: Interpreted): string {
  const quoted = memos.flatMap((memo) => quotedWords(memo, MAX_MEMO_CHARACTERS) ?? []);
  return quoted.length === 0 ? '' : ` with the memo ${quoted.join(' and ')}`;
}

/** Describes what was done to an NFT that is in no token account. */
function describeAsset(action: Action, { formatAddress, also = '' }: ActionFormat): string {
  const { actor, counterparty, given, got } = action;
  const amounts = [...given, ...got];
  const { who, ofWallet } = moverOf(actor, action, formatAddress);
  const nft = `${amounts.length === 0 ? 'an NFT' : formatAmounts(amounts.map(toAmount), formatAddress)}${ofWallet}`;
  if (got.length > 0) return `${who} ${also}got ${nft}, which was made`;
  const deed = counterparty === null ? `burned ${nft}` : `sent ${nft} to ${formatAddress(counterparty)}`;
  return `${who} ${also}${deed}`;
}

/** Describes what one wallet gave or got, where no other party is known. */
function describeSide(action: Action, { formatAddress, also = '' }: ActionFormat, verb = 'gave'): string {
  const { kind, actor, counterparty, given, got, program, authority } = action;
  if (kind === 'withheldFee' && authority !== null)
    return `${formatAddress(authority)} ${also}withdrew ${formatAmounts(got.map(toAmount), formatAddress)} of withheld fees to ${formatAddress(actor)}`;
  const { who, ofWallet } = moverOf(actor, action, formatAddress);
  const flows = [
    ...(given.length > 0 ? [`${verb} ${formatAmounts(given.map(toAmount), formatAddress)}${ofWallet}`] : []),
    ...(got.length > 0 ? [`got ${formatAmounts(got.map(toAmount), formatAddress)}`] : []),
  ];
  const payer = kind === 'direct' && counterparty !== null ? ` from ${formatAddress(counterparty)}` : '';
  return `${who} ${also}${flows.join(' and ')}${payer}${programPhrase(program, 'through', formatAddress)}`;
}

function describeSwapAside(action: Action, { formatAddress, also = '' }: ActionFormat): string {
  const { actor, given, got, program } = action;
  const [gave, received] = [given, got].map((amounts) => formatAmounts(amounts.map(toAmount), formatAddress));
  const { who, ofWallet } = moverOf(actor, action, formatAddress);
  return `${who} ${also}swapped ${gave}${ofWallet} for ${received}${programPhrase(program, 'on', formatAddress)}`;
}

/** Describes closed accounts in one phrase for each owner, with each receiver of what was in them. */
const describeClosed = (closed: readonly Action[], formatAddress: FormatAddress, also: string): readonly string[] =>
  grouped(closed, ({ actor, authority }) => `${actor} ${authority}`).map((group) => {
    const { who, ofWallet } = moverOf(group[0].actor, group[0], formatAddress);
    const shares = grouped(group, ({ counterparty }) => counterparty ?? '').map(
      (same) => `${formatAmounts(givenIn(same), formatAddress)} went to ${formatAddress(same[0]?.counterparty ?? '')}`,
    );
    const accounts = group.length > 1 ? `${group.length} token accounts` : 'a token account';
    return `${who} ${also}closed ${accounts}${ofWallet}, whose ${joinPhrases(shares)}`;
  });

const givenIn = (actions: readonly Action[]): readonly AssetAmount[] =>
  actions.flatMap(({ given }) => given.map(toAmount));

/** Movements of hidden amounts in words. */
const HIDDEN = wordsOf('hidden');

function describeHidden(
  { type, mint, fromUserAccount, fromTokenAccount, toUserAccount, toTokenAccount, amount }: ConfidentialTransfer,
  formatAddress: FormatAddress,
): string {
  const token = mint === null ? 'tokens' : tokenLabel(mint, formatAddress);
  const [from = '', to = ''] = [fromUserAccount ?? fromTokenAccount, toUserAccount ?? toTokenAccount].map((party) =>
    party === null ? 'somebody' : formatAddress(party),
  );
  const units = `${amount ?? 'some'} smallest units of ${token}`;
  return filledIn(HIDDEN.get(type) ?? '', { from, to, units, amount: `a hidden amount of ${token}` });
}
