import { type AssetAmount, negate } from './asset-amount.ts';

/** What can happen to the balances of a wallet. */
export const ACTION_KINDS = {
  fee: 'the fee of the transaction',
  tip: 'a payment for a place in a block',
  transfer: 'a transfer',
  mint: 'tokens were minted to the actor',
  burn: 'tokens of the actor were burned',
  rent: 'the deposit of a new account, which is the counterparty',
  funding: 'lamports for a new account, which is the counterparty, beyond its deposit',
  close: 'a token account of the actor was closed; the counterparty got its lamports',
  changeOwner: 'the counterparty became the owner of a token account of the actor',
  withheldFee: 'the actor got transfer fees that a token had withheld',
  hide: 'tokens moved into a hidden balance of the actor, or out of it',
  swap: 'what one call of an exchange moved for the actor',
  direct: 'lamports that the only program which was called moved without an instruction; the counterparty paid them',
  payout: 'what a program paid to somebody that did not sign, in a call that paid signers less',
  asset: 'an NFT that is in no token account was made, sent or burned; no balance shows it',
} as const satisfies Readonly<Record<string, string>>;

export type ActionKind = keyof typeof ACTION_KINDS;

/**
 * How the actor stands to what was done: it signed; a delegate of its tokens signed in its place; the holder of a right over
 * its account did, such as that to withdraw a stake; a program signed for an address of its own.
 */
export const ACTION_ROLES = ['owner', 'delegate', 'authority', 'program'] as const;

/** An amount in smallest units; SOL in either form has the mint of wrapped SOL. */
export interface ActionAmount {
  readonly mint: string;
  readonly amount: string;
  readonly decimals: number;
}

/** One change of balances. For each wallet, all of them add up to the change of its balances. */
export interface Action {
  readonly kind: ActionKind;
  /** The wallet that gave and got; the owner of a token account rather than the account. */
  readonly actor: string;
  /** The wallet that got what the actor gave; null if none, or if several did. */
  readonly counterparty: string | null;
  readonly given: readonly ActionAmount[];
  readonly got: readonly ActionAmount[];
  /** What of the given tokens was withheld as their fee, in smallest units; null if nothing. */
  readonly withheld: string | null;
  /** The program whose call did it; null for Solana's own: then the transaction itself did. */
  readonly program: string | null;
  /** Position of the top-level instruction and of the inner one; null for a fee. */
  readonly instruction: readonly [topLevel: number, inner: number | null] | null;
  readonly role: (typeof ACTION_ROLES)[number];
  /** Who signed for it in the place of the actor; null if the actor did. */
  readonly authority: string | null;
}

/** A change of a wallet's balance that no action explains. */
export interface Unaccounted {
  readonly userAccount: string;
  readonly mint: string;
  /** Signed, in smallest units. */
  readonly amount: string;
  readonly decimals: number;
}

export interface Ledger {
  readonly actions: readonly Action[];
  readonly unaccounted: readonly Unaccounted[];
}

/** What the sentence of an interpretation leaves out of the changes of the wallets that signed. */
export interface Remainder {
  readonly actions: readonly Action[];
  /** Signed amounts that no action is named for. */
  readonly changes: readonly (readonly [wallet: string, AssetAmount])[];
}

export const toAmount = ({ mint, amount, decimals }: ActionAmount): AssetAmount => ({
  mint,
  amount: BigInt(amount),
  decimals,
});

/** Returns the signed changes that an action made. */
export function effectsOf(action: Action): readonly (readonly [wallet: string, AssetAmount])[] {
  const { actor, counterparty, given, got, withheld } = action;
  const lost = given.map(toAmount);
  const arrived = lost.map((loss) => ({ ...loss, amount: loss.amount - BigInt(withheld ?? 0) }));
  return [
    ...lost.map((loss) => [actor, negate(loss)] as const),
    ...got.map((gain) => [actor, toAmount(gain)] as const),
    ...(counterparty === null ? [] : arrived.map((gain) => [counterparty, gain] as const)),
  ];
}

type ActionParts = Partial<Omit<Action, 'kind' | 'actor' | 'given' | 'got'>> & {
  readonly given?: readonly AssetAmount[];
  readonly got?: readonly AssetAmount[];
};

/** Makes an action; what it does not have is null, and it is signed by its actor. */
export function actionOf(kind: ActionKind, actor: string, { given = [], got = [], ...parts }: ActionParts): Action {
  const toText = ({ mint, amount, decimals }: AssetAmount): ActionAmount => ({ mint, amount: `${amount}`, decimals });
  return {
    kind,
    actor,
    counterparty: null,
    given: given.map(toText),
    got: got.map(toText),
    withheld: null,
    program: null,
    instruction: null,
    role: 'owner',
    authority: null,
    ...parts,
  };
}
