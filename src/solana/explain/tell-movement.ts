import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { Facts } from '../analysis/facts.ts';
import { mainProgram } from '../analysis/main-program.ts';
import { netChange } from '../analysis/net-change.ts';
import { isCollectible, issued, payments } from '../analysis/payments.ts';
import { findSwap } from '../analysis/swap.ts';
import { through } from './tell-program.ts';
import { accounts, quantities, quantity, type Spelling } from './wording.ts';

export function tellSwap(facts: Facts, spell: Spelling): string {
  const swap = findSwap(facts);
  const where = through(facts, 'on', spell);
  if (swap !== null) {
    const trade = `${quantities(swap.given, spell)} traded against ${quantities(swap.got, spell)}`;
    if (swap.wallet === null) return `${spell(facts.feePayer)} had ${trade}${where}`;
    return `${spell(swap.wallet)} swapped ${quantities(swap.given, spell)} for ${quantities(swap.got, spell)}${where}`;
  }
  const { gained, lost } = netChange(facts);
  const end =
    gained.length > 0
      ? `ended up with ${quantities(gained, spell)} more`
      : lost.length > 0
        ? `ended up with ${quantities(lost, spell)} less`
        : 'ended up with what was there before';
  return `${spell(facts.feePayer)} traded in a circle${where} and ${end}`;
}

export function tellTransfer(facts: Facts, spell: Spelling): string {
  const paid = payments(facts);
  const by = through(facts, 'through', spell);
  const [first] = paid;
  if (first === undefined) {
    const { gained, lost } = netChange(facts);
    const flows = [
      gained.length > 0 ? `received ${quantities(gained, spell)}` : null,
      lost.length > 0 ? `paid ${quantities(lost, spell)}` : null,
    ];
    return `${spell(facts.feePayer)} ${flows.filter((flow) => flow !== null).join(' and ')}${by}`;
  }
  const senders = new Set(paid.map(({ from }) => from));
  const receivers = new Set(paid.map(({ to }) => to));
  if (senders.size > 1 && receivers.size > 1) return tellMany(facts, spell) + by;
  const what = receivers.size > 1 && new Set(paid.map(({ mint }) => mint)).size === 1 ? 'a total of ' : '';
  const to = receivers.size === 1 && senders.has(first.to) ? 'itself' : accounts(receivers, spell);
  return `${accounts(senders, spell)} sent ${what}${quantities(paid, spell)} to ${to}${by}`;
}

/** Many to many: what those who signed gave and got, since they asked for it. */
function tellMany(facts: Facts, spell: Spelling): string {
  const paid = payments(facts);
  const sent = paid.filter(({ from, to }) => from === facts.feePayer && to !== facts.feePayer);
  const got = paid.filter(({ from, to }) => to === facts.feePayer && from !== facts.feePayer);
  const flows = [
    sent.length > 0 ? `sent ${quantities(sent, spell)} to ${accounts(new Set(sent.map(({ to }) => to)), spell)}` : null,
    got.length > 0
      ? `received ${quantities(got, spell)} from ${accounts(new Set(got.map(({ from }) => from)), spell)}`
      : null,
  ].filter((flow) => flow !== null);
  if (flows.length > 0) return `${spell(facts.feePayer)} ${flows.join(' and ')}`;
  const parties = new Set(paid.flatMap(({ from, to }) => [from, to]));
  return `${spell(facts.feePayer)} had ${quantities(paid, spell)} moved between ${parties.size} accounts`;
}

/** A collectible that changed hands, for SOL or not. */
export function tellNft(facts: Facts, spell: Spelling): string {
  const swap = findSwap(facts);
  const where = through(facts, 'on', spell);
  if (swap !== null && swap.wallet !== null) {
    const done = swap.got.some(isCollectible) ? 'bought' : 'sold';
    const [thing, price] = done === 'bought' ? [swap.got, swap.given] : [swap.given, swap.got];
    return `${spell(swap.wallet)} ${done} ${quantities(thing, spell)} for ${quantities(price, spell)}${where}`;
  }
  const [moved] = payments(facts).filter(isCollectible);
  if (moved === undefined) return `${spell(facts.feePayer)} transferred a compressed NFT${where}`;
  const { gained } = netChange(facts);
  const paid = gained.filter(({ mint }) => mint === WRAPPED_SOL);
  if (mainProgram(facts) === null || paid.length === 0) return tellTransfer(facts, spell);
  return `${quantity(moved, spell).replace(/^t/, 'T')} went to ${spell(moved.to)}${where}, and ${spell(facts.feePayer)} received ${quantities(paid, spell)}`;
}

export function tellMint(facts: Facts, spell: Spelling): string {
  const minted = issued(facts, 'minted');
  const what = minted.length === 0 ? 'a compressed NFT' : quantities(minted, spell);
  return `${spell(facts.feePayer)} minted ${what}${price(facts, spell)}${through(facts, 'with', spell)}`;
}

export function tellBurn(facts: Facts, spell: Spelling): string {
  const burned = issued(facts, 'burned');
  const holders = new Set(
    facts.tokenTransfers
      .filter(({ toTokenAccount }) => toTokenAccount === null)
      .map(({ fromUserAccount }) => fromUserAccount ?? facts.feePayer),
  );
  if (burned.length === 0) return `${spell(facts.feePayer)} burned a compressed NFT`;
  return `${accounts(holders, spell)} burned ${quantities(burned, spell)}${returned(facts, spell)}${through(facts, 'with', spell)}`;
}

/** ` for 0.5 SOL`, where something was paid. */
function price(facts: Facts, spell: Spelling): string {
  const { lost } = netChange(facts);
  return lost.length === 0 ? '' : ` for ${quantities(lost, spell)}`;
}

/** ` and received 0.5 SOL`, where something was given in return. */
function returned(facts: Facts, spell: Spelling): string {
  const { gained } = netChange(facts);
  return gained.length === 0 ? '' : ` and received ${quantities(gained, spell)}`;
}
