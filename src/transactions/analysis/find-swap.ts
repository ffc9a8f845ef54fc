import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { isTradingProgram } from '../programs/known-programs.ts';
import { type Action, type ActionAmount, toAmount } from './action.ts';
import { type AssetAmount, negate } from './asset-amount.ts';
import { grouped } from './grouped.ts';
import { type NetChange, splitBySign } from './net-change.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { findSupplyChanges, isNftAmount, type Payment, sumByMint } from './payments.ts';
import { programFlowsOf } from './program-flows.ts';
import { shareOf } from './share.ts';
import type { Swap } from './swap-legs.ts';
import { type WalletChanges, walletChangesOf } from './wallet-changes.ts';

/** What the trades of a transaction are found by. */
interface TradeFacts {
  readonly parsed: ParsedTransaction;
  readonly mainProgram: string | null;
  readonly payments: readonly Payment[];
  /** Returns what instructions of exchanges name as their users, or as the mints that these give. */
  readonly tradeRole: (role: 'user' | 'inputMint') => ReadonlySet<string>;
}

/** Finds the trade of a transaction; null if it has none. */
export function findSwap(facts: TradeFacts): Swap | null {
  const { parsed, payments, mainProgram } = facts;
  const signers = new Set([parsed.feePayer, ...parsed.signers]);
  const [swap, ...others] = [...signers].flatMap((signer) => calledSwap(signer, parsed) ?? []);
  if (swap !== undefined) return others.length === 0 ? swap : takerOf([swap, ...others], facts.tradeRole('inputMint'));
  const delegated = parsed.actions.find(({ kind, authority }) => kind === 'swap' && signers.has(authority ?? ''));
  if (delegated !== undefined) {
    const { actor: wallet, authority, role, given, got, program } = delegated;
    const [inputs, outputs] = [given.map(toAmount), got.map(toAmount)];
    const mover = { authority: authority ?? wallet, role };
    return { wallet, mover, inputs, outputs, program, states: shareOf([delegated]) };
  }
  if (isCircularTrade(facts)) return null;
  const nfts = mintedOrBurnedNfts(parsed);
  for (const program of new Set(payments.map((payment) => payment.program)))
    for (const signer of program === null ? [] : signers) {
      const { given, received, states } = programFlowsOf(signer, program, parsed);
      const inputs = given.filter(({ mint }) => !nfts.has(mint));
      const outputs = received.filter(({ mint }) => !nfts.has(mint));
      if (inputs.length > 0 && outputs.length > 0) return { wallet: signer, inputs, outputs, program, states };
    }
  return isTradingProgram(mainProgram) ? findUnsignedSwap(facts) : null;
}

/** Returns the trade of the taker: where both sides of a quote signed, the one that gave what its instruction exchanges. */
const takerOf = (swaps: readonly [Swap, ...Swap[]], given: ReadonlySet<string>): Swap =>
  swaps.find(({ inputs }) => inputs.every(({ mint }) => given.has(mint))) ?? swaps[0];

/** Sums what the calls of one exchange moved for a wallet both ways; null if none did, or if all together did not. */
function calledSwap(wallet: string, { actions }: ParsedTransaction): Swap | null {
  const trades = actions.filter(({ kind, actor }) => kind === 'swap' && actor === wallet);
  const isTrade = ({ gained, lost }: NetChange): boolean => gained.length > 0 && lost.length > 0;
  const ofOne = grouped(trades, ({ program }) => program ?? '').find((made) => isTrade(legsOf(made)));
  if (ofOne === undefined || !isTrade(legsOf(trades))) return null;
  const { lost: inputs, gained: outputs } = legsOf(ofOne);
  return { wallet, inputs, outputs, program: ofOne[0]?.program ?? null, states: shareOf(ofOne, wallet) };
}

function legsOf(trades: readonly Action[]): NetChange {
  const received = trades.flatMap(({ got }) => got.map(toAmount));
  const given = trades.flatMap((trade) => trade.given.map((amount) => negate(toAmount(amount))));
  return splitBySign(sumByMint([...received, ...given]));
}

/**
 * Finds a trade between two parties that did not sign, such as a trader's own program and a pool: the one that the
 * exchange's instruction names as its user, or the one that traded with those that no instruction names so, or else the one
 * that gives first. Null if there is none, or if it is unclear which parties are pools.
 */
function findUnsignedSwap({ parsed, tradeRole }: TradeFacts): Swap | null {
  const nfts = mintedOrBurnedNfts(parsed);
  const ofSigners = walletChangesOf(parsed);
  const isOfSigner = (amounts: readonly AssetAmount[], isLost: boolean): boolean =>
    parsed.signers.some((signer) =>
      ofSigners
        .get(signer)
        ?.some(
          ({ mint, amount }) =>
            mint !== WRAPPED_SOL && amount < 0n === isLost && amounts.some((traded) => traded.mint === mint),
        ),
    );
  const isPaidBySigner = ({ wallet }: WalletChanges): boolean =>
    parsed.actions.some(
      ({ kind, actor, authority, counterparty }) =>
        kind === 'transfer' && counterparty === wallet && parsed.signers.includes(authority ?? actor),
    );
  const swaps = unsignedChanges(parsed)
    .filter((changes) => !isPaidBySigner(changes)) // such as a pool
    .flatMap((changes) => walletSwap(changes, nfts) ?? [])
    .filter(({ inputs, outputs }) => !isOfSigner(outputs, true) && !isOfSigner(inputs, false));
  const users = tradeRole('user');
  const ofUsers = swaps.filter(({ wallet }) => wallet !== null && users.has(wallet));
  const giver = parsed.actions.find(({ actor, counterparty }) =>
    swaps.some(({ wallet }) => wallet === actor && counterparty !== null),
  )?.actor;
  const ofGiver = swaps.length > 2 ? undefined : swaps.find(({ wallet }) => wallet === giver);
  const ofPools = users.size > 0 && ofUsers.length === 0 ? tradeWith(swaps) : null;
  const found = ofUsers.length === 1 ? ofUsers[0] : (ofPools ?? ofGiver);
  const isLeg = ({ program, actor, counterparty }: Action): boolean =>
    isTradingProgram(program) && (actor === found?.wallet || counterparty === found?.wallet);
  const program = parsed.actions.find(isLeg)?.program;
  return found === undefined || program === undefined ? null : { ...found, wallet: null, program, states: [] };
}

/** Returns the trade with pools of somebody who has passed both of its tokens on; null if it was of others, too. */
function tradeWith(pools: readonly WalletTrade[]): WalletTrade | null {
  const changes = pools.flatMap((pool) => [...pool.inputs.map(negate), ...pool.outputs]);
  const { gained: inputs, lost: outputs } = splitBySign(sumByMint(changes));
  return inputs.length === 1 && outputs.length === 1 ? { wallet: pools[0]?.wallet ?? null, inputs, outputs } : null;
}

/** Returns the changes of the owners of tokens that did not sign. */
function unsignedChanges(parsed: ParsedTransaction): readonly WalletChanges[] {
  const changes = walletChangesOf(parsed);
  const owners = new Set(
    parsed.accountData.flatMap((account) => account.tokenBalanceChanges.map(({ userAccount }) => userAccount)),
  );
  return [...owners]
    .filter((owner) => !parsed.signers.includes(owner))
    .map((wallet) => ({ wallet, amounts: changes.get(wallet) ?? [] }));
}

type WalletTrade = Omit<Swap, 'program' | 'states'>;

function walletSwap({ wallet, amounts }: WalletChanges, nfts: ReadonlySet<string>): WalletTrade | null {
  const traded = amounts.filter(({ mint }) => !nfts.has(mint));
  const tokens = splitBySign(traded.filter(({ mint }) => mint !== WRAPPED_SOL)); // SOL beside two tokens is rent
  const isOfTokens = tokens.gained.length > 0 && tokens.lost.length > 0;
  const { lost: inputs, gained: outputs } = isOfTokens ? tokens : splitBySign(traded);
  return inputs.length > 0 && outputs.length > 0 ? { wallet, inputs, outputs } : null;
}

/** Finds NFTs that were minted or burned: they stand for positions or collectibles and are no price. */
function mintedOrBurnedNfts(parsed: ParsedTransaction): ReadonlySet<string> {
  return new Set(
    [...findSupplyChanges(parsed, 'minted'), ...findSupplyChanges(parsed, 'burned')]
      .filter(isNftAmount)
      .map(({ mint }) => mint),
  );
}

/** Returns whether all tokens that the signers sent into programs came back in kind: a circular trade for its surplus. */
export function isCircularTrade({ parsed, mainProgram }: Pick<TradeFacts, 'parsed' | 'mainProgram'>): boolean {
  const signers = new Set(parsed.signers);
  const mintsOf = (amounts: readonly ActionAmount[], wallet: string | null): readonly string[] =>
    signers.has(wallet ?? '') ? amounts.map(({ mint }) => mint) : [];
  const [sent, returned] = [new Set<string>(), new Set<string>()];
  for (const made of grouped(parsed.actions, ({ program }) => program ?? '')) {
    if (made[0]?.program === null) continue;
    const back = made.flatMap(({ actor, counterparty, given, got }) => [
      ...mintsOf(got, actor),
      ...mintsOf(given, counterparty),
    ]);
    for (const mint of back) returned.add(mint);
    // what a program only took, such as a fee, is no leg
    for (const { kind, actor, given } of back.length === 0 ? [] : made)
      if (kind === 'transfer' || kind === 'swap') for (const mint of mintsOf(given, actor)) sent.add(mint);
  }
  const isTrade = sent.size > 1 || isTradingProgram(mainProgram);
  return isTrade && sent.size > 0 && [...sent].every((mint) => returned.has(mint));
}
