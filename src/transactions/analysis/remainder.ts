import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isTradingProgram } from '../programs/known-programs.ts';
import { type Action, effectsOf, type Remainder, type Unaccounted } from './action.ts';
import { type AssetAmount, negate } from './asset-amount.ts';
import type { Interpretation, NftInterpretation, OrderFillInterpretation } from './interpretation.ts';
import { callersOf } from './main-program.ts';
import type { TransactionFacts } from './transaction-facts.ts';
import { WalletSums } from './wallet-sums.ts';

/**
 * Finds what a sentence must still say, so that what it says adds up to what changed for each wallet that signed, and for
 * each whose tokens a delegate moved. Nothing is netted with what the sentence says: what was traded and what was stolen
 * are two figures.
 */
export function findRemainder(interpretation: Interpretation, facts: TransactionFacts): Remainder {
  const { parsed } = facts;
  const actions = parsed.actions.filter(isCounted);
  if (actions.length + parsed.unaccounted.length === 0) return { actions, changes: [] };
  const signers = new Set(parsed.signers);
  const subjects = new Set([...signers, ...actions.filter(isByDelegate).map(({ actor }) => actor)]);
  const { open, effects } = sumEffects(actions, parsed.unaccounted, subjects);
  for (const [wallet, amount] of statedBy(interpretation, actions))
    if (subjects.has(wallet)) open.add(wallet, negate(amount));
  const callers = callersOf(interpretation.program, parsed);
  const candidates = new Set(actions.filter((action) => !isCovered(action, interpretation, callers)));
  const named = new Set([...candidates].filter(({ program, kind }) => program === null && kind === 'transfer'));
  const changes: (readonly [string, AssetAmount])[] = [];
  for (const [wallet, { mint, amount, decimals }] of open.all()) {
    const byAction = effects.get(`${wallet} ${mint}`) ?? new Map<Action, bigint>();
    const unaccounted = unaccountedOf(parsed.unaccounted, wallet, mint);
    const touching = [...byAction.keys()];
    const sumOf = (group: readonly Action[]): bigint =>
      group.reduce((sum, action) => sum + (byAction.get(action) ?? 0n), 0n);
    const groups = [
      touching.filter((action) => candidates.has(action)),
      amount === 0n || interpretation.type === 'FILL_ORDER' ? [] : touching,
    ];
    const explaining = groups.find((group) => unaccounted + sumOf(group) === amount);
    const isLoss = explaining?.some((action) => (byAction.get(action) ?? 0n) < 0n) === true;
    if (amount === 0n && !(signers.has(wallet) && isLoss)) continue;
    const rest =
      explaining === undefined ? amount - sumOf(touching.filter((action) => named.has(action))) : unaccounted;
    for (const action of explaining ?? []) named.add(action);
    if (rest !== 0n) changes.push([wallet, { mint, amount: rest, decimals }]);
  }
  return { actions: actions.filter((action) => named.has(action)), changes };
}

/** Sums what changed for wallets by mint, and keeps what each action made of it. */
function sumEffects(actions: readonly Action[], unaccounted: readonly Unaccounted[], subjects: ReadonlySet<string>) {
  const open = new WalletSums();
  for (const { userAccount, mint, amount, decimals } of unaccounted)
    open.add(userAccount, { mint, decimals, amount: BigInt(amount) });
  const effects = new Map<string, Map<Action, bigint>>();
  for (const action of actions)
    for (const [wallet, change] of effectsOf(action)) {
      if (!subjects.has(wallet)) continue;
      open.add(wallet, change);
      const key = `${wallet} ${change.mint}`;
      const byAction = effects.get(key) ?? new Map<Action, bigint>();
      effects.set(key, byAction.set(action, (byAction.get(action) ?? 0n) + change.amount));
    }
  return { open, effects };
}

const unaccountedOf = (all: readonly Unaccounted[], wallet: string, mint: string): bigint =>
  all
    .filter((change) => change.userAccount === wallet && change.mint === mint)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** The fee and tips stand in the sentence on the cost; the lamport that some programs charge for a call in the list alone. */
const isCounted = ({ kind, program, given: [first] }: Action): boolean =>
  kind !== 'fee' &&
  kind !== 'tip' &&
  !(kind === 'transfer' && program !== null && first?.mint === WRAPPED_SOL && first.amount === '1');

const isByDelegate = ({ role }: Action): boolean => role === 'delegate';

/** Returns whether an action paid into a filled order or out of it: the sentence has the amounts from its owner's side. */
const isOfOrder = ({ kind, actor, counterparty }: Action, { swap }: OrderFillInterpretation): boolean =>
  kind === 'transfer' && swap !== null && (actor === swap.wallet || counterparty === swap.wallet);

/** Returns whether the sentence of an interpretation says what an action did, in a figure of its own or in a sum. */
function isCovered(action: Action, interpretation: Interpretation, callers: ReadonlySet<string | null>): boolean {
  const { kind, program } = action;
  if (kind === 'changeOwner' || kind === 'hide') return true; // changes of rights and hidden amounts have sentences of their own
  if (kind === 'rent') return 'stakeAccount' in interpretation && action.counterparty === interpretation.stakeAccount;
  switch (interpretation.type) {
    case 'TRANSFER':
    case 'NFT_TRANSFER':
      return kind === 'transfer' || interpretation.payments.length === 0;
    case 'SWAP':
    case 'CREATE':
      return kind === 'swap';
    case 'FILL_ORDER':
      return kind === 'swap' || isOfOrder(action, interpretation);
    case 'ARBITRAGE':
      return isTradingProgram(program) || interpretation.payments.some(({ to }) => to === action.counterparty);
    case 'TOKEN_MINT':
    case 'BURN':
      return (
        kind === (interpretation.type === 'BURN' ? 'burn' : 'mint') ||
        (callers.has(program) && kind !== 'burn' && kind !== 'mint')
      );
    case 'STAKE':
    case 'SPLIT_STAKE':
    case 'MERGE_STAKE':
    case 'UNSTAKE':
      return kind === 'transfer' && action.actor === interpretation.stakeAccount;
    case 'CLOSE_ACCOUNT':
      return false;
    default:
      return ('gained' in interpretation || 'nfts' in interpretation) && callers.has(program);
  }
}

/** Returns the signed amounts that the sentence of an interpretation names for each wallet. */
function statedBy(
  interpretation: Interpretation,
  actions: readonly Action[],
): readonly (readonly [wallet: string, AssetAmount])[] {
  const { actor } = interpretation;
  const net = (wallet: string, lost: readonly AssetAmount[], gained: readonly AssetAmount[]) => [
    ...lost.map((amount) => [wallet, negate(amount)] as const),
    ...gained.map((amount) => [wallet, amount] as const),
  ];
  const swap = 'swap' in interpretation ? interpretation.swap : null;
  const traded = swap === null || swap.wallet === null ? [] : net(swap.wallet, swap.inputs, swap.outputs);
  switch (interpretation.type) {
    case 'SWAP':
    case 'CREATE':
    case 'FILL_ORDER':
      return traded;
    case 'TRANSFER':
    case 'NFT_TRANSFER':
      if (swap !== null) return traded;
      if (interpretation.payments.length === 0) return net(actor, interpretation.lost, interpretation.gained);
      return interpretation.payments.flatMap((payment) => [
        [payment.from, negate(payment)] as const,
        [payment.to, { ...payment, amount: payment.amount - payment.withheld }] as const,
      ]);
    case 'ARBITRAGE':
      if (!interpretation.hasTraded) return [];
      return [
        ...net(actor, interpretation.gained.length > 0 ? [] : interpretation.lost, interpretation.gained),
        ...interpretation.payments.flatMap((payment) => net(payment.from, [payment], [])),
      ];
    case 'TOKEN_MINT':
    case 'BURN': {
      const isBurn = interpretation.type === 'BURN';
      const changed = actions.filter(({ kind }) => kind === (isBurn ? 'burn' : 'mint')).flatMap(effectsOf);
      const paid = isBurn ? net(actor, [], interpretation.gained) : net(actor, interpretation.lost, []);
      return [
        ...changed,
        ...paid.filter(([, { mint }]) => !interpretation.amounts.some((amount) => amount.mint === mint)),
      ];
    }
    case 'STAKE':
    case 'SPLIT_STAKE':
    case 'MERGE_STAKE':
    case 'UNSTAKE':
      return actions.filter((action) => isCovered(action, interpretation, new Set())).flatMap(effectsOf);
    default:
      if ('nfts' in interpretation) return statedOfNfts(interpretation, actions);
      return 'gained' in interpretation && !('isUntouched' in interpretation && interpretation.isUntouched)
        ? net(actor, interpretation.lost, interpretation.gained)
        : [];
  }
}

/** Returns what a sentence on NFTs names: the NFTs themselves, the price, and rent that came back. */
function statedOfNfts(
  { type, actor, nfts, buyer, seller, price, proceeds, refund }: NftInterpretation,
  actions: readonly Action[],
): readonly (readonly [wallet: string, AssetAmount])[] {
  const mints = new Set(nfts.map(({ mint }) => mint));
  const isPaid = type === 'NFT_SALE' || type.endsWith('NFT_MINT');
  return [
    ...actions.flatMap(effectsOf).filter(([, { mint }]) => mints.has(mint)),
    ...(isPaid && price !== null ? [[type === 'NFT_SALE' ? (buyer ?? actor) : actor, negate(price)] as const] : []),
    ...(type === 'NFT_SALE' && proceeds !== null ? [[seller ?? actor, proceeds] as const] : []),
    ...(refund === 0n ? [] : actions.filter(({ kind }) => kind === 'direct' || kind === 'close').flatMap(effectsOf)),
  ];
}
