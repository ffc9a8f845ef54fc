import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { asBigInt, asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS, programRole } from '../../programs/known-programs.ts';
import type { ProgramInstruction } from '../../programs/program-instruction.ts';
import type { Action } from '../action.ts';
import type { AssetAmount } from '../asset-amount.ts';
import type { NftInterpretation } from '../interpretation.ts';
import { type AssetCall, findAssetCalls, type Nft } from '../nft-asset.ts';
import { findSaleMoney, UNKNOWN_MONEY } from '../nft-sale.ts';
import { onlyValue } from '../only-value.ts';
import type { ParsedInstruction } from '../parsed-transaction.ts';
import { isNftAmount, paymentsIn, sentToItself } from '../payments.ts';
import { isSent } from '../remainder.ts';
import { type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { calledChange } from './calls.ts';

type NftType = NftInterpretation['type'];

/** What marketplaces are called for, the most significant first: accepting a bid lists and sells in one transaction. */
export const MARKET_TYPES: readonly NftType[] = [
  'NFT_SALE',
  'NFT_LISTING',
  'NFT_BID',
  'NFT_CANCEL_LISTING',
  'NFT_BID_CANCELLED',
];

/** A call that a table of instructions names, with its place. */
interface NamedCall {
  readonly call: ParsedInstruction;
  readonly instruction: ProgramInstruction;
  readonly step: number;
}

/** Interprets sales, listings and bids, and an NFT that was exchanged through a program that is in no table. */
export const nftTradeRule: Rule = (facts) => interpretMarketCall(facts) ?? interpretExchange(facts);

/** Makes an interpretation; what it does not have is unknown, or nothing. */
const deedOf = (
  type: NftType,
  nfts: readonly Nft[],
  known: Pick<NftInterpretation, 'actor' | 'program' | 'states'> & Partial<NftInterpretation>,
): NftInterpretation => ({ seller: null, buyer: null, ...UNKNOWN_MONEY, refund: 0n, ...known, type, nfts });

function interpretMarketCall(facts: TransactionFacts): NftInterpretation | null {
  const named = findNamedCalls(facts);
  for (const type of MARKET_TYPES) {
    const calls = named.filter(({ instruction }) => instruction.type === type);
    if (calls.length > 0) return type === 'NFT_SALE' ? interpretSale(calls, facts) : interpretOffer(type, calls, facts);
  }
  return null;
}

function findNamedCalls({ parsed, instructionOf }: TransactionFacts): readonly NamedCall[] {
  return parsed.instructions.flatMap((topLevel) =>
    [topLevel, ...topLevel.innerInstructions].flatMap((call) => {
      const instruction = instructionOf(call);
      return instruction === null ? [] : [{ call, instruction, step: topLevel.index }];
    }),
  );
}

function interpretSale(sales: readonly NamedCall[], facts: TransactionFacts): NftInterpretation {
  const seller = partyOf(sales, 'seller');
  const buyer = partyOf(sales, 'buyer');
  const program = sales[0]?.call.programId ?? null;
  const money = facts.isAttempt ? UNKNOWN_MONEY : findSaleMoney(sales, facts);
  const states = statesOfSale(program, facts);
  const actor = actorOf(facts, [buyer, seller]);
  return deedOf('NFT_SALE', nftsOf(sales, facts), { actor, program, seller, buyer, ...money, states });
}

/** Interprets listings and bids, placed or cancelled. */
function interpretOffer(type: NftType, offers: readonly NamedCall[], facts: TransactionFacts): NftInterpretation {
  const nfts = nftsOf(offers, facts);
  const isBid = type === 'NFT_BID' || type === 'NFT_BID_CANCELLED';
  const party = partyOf(offers, isBid ? 'buyer' : 'seller');
  return deedOf(type, nfts, {
    actor: party ?? facts.actor,
    program: offers[0]?.call.programId ?? null,
    states: statesOfNfts(nfts, facts),
    [isBid ? 'buyer' : 'seller']: party,
    price: offers.length === 1 ? offeredPrice(offers[0], facts) : null,
  });
}

/** Returns the price that an offer names; null if none, or if the transaction doesn't show its currency's decimals. */
function offeredPrice(offer: NamedCall | undefined, { parsed }: TransactionFacts): AssetAmount | null {
  const { values = {} } = offer?.instruction ?? {};
  const amount = asBigInt(values['amount']);
  if (offer === undefined || amount === null) return null;
  const named = asString(values['currencyMint']) ?? offer.instruction.roles.inputMint ?? WRAPPED_SOL;
  const mint = named === SYSTEM_PROGRAM ? WRAPPED_SOL : named;
  if (mint === WRAPPED_SOL) return { mint, amount, decimals: 9 };
  const known = parsed.tokenTransfers.find((transfer) => transfer.mint === mint);
  return known === undefined ? null : { mint, amount, decimals: known.decimals };
}

/** Returns the account of a role if all calls name the same. */
const partyOf = (calls: readonly NamedCall[], role: 'seller' | 'buyer'): string | null =>
  onlyValue(calls.map(({ instruction }) => instruction.roles[role] ?? null));

/** Returns the party that signed: the buyer of what is listed, or the seller that accepts a bid. */
const actorOf = ({ parsed, actor }: TransactionFacts, parties: readonly (string | null)[]): string =>
  parties.find((party) => party === actor) ??
  parties.find((party) => party !== null && parsed.signers.includes(party)) ??
  actor;

/** Returns the NFTs that calls name, or else those that moved within them. */
function nftsOf(named: readonly NamedCall[], facts: TransactionFacts): readonly Nft[] {
  const { parsed, instructionOf, payments } = facts;
  const byStep = new Map<number | null, Nft[]>();
  const add = (step: number | null, nft: Nft): void => {
    const nfts = byStep.get(step);
    if (nfts === undefined) byStep.set(step, [nft]);
    else nfts.push(nft);
  };
  for (const asset of findAssetCalls(parsed.instructions, instructionOf))
    if (asset.type === 'NFT_TRANSFER' || asset.type === 'COMPRESSED_NFT_TRANSFER') add(asset.step, asset);
  for (const payment of payments) if (isNftAmount(payment)) add(payment.step, toNft(payment.mint, facts));
  const stepsWithoutNames = new Set<number>();
  const nfts = named.flatMap(({ instruction: { name, roles }, step }): readonly Nft[] => {
    if (roles.mint !== undefined) return [toNft(roles.mint, facts, standardByName(name))];
    if (stepsWithoutNames.has(step)) return [];
    stepsWithoutNames.add(step);
    return byStep.get(step) ?? [];
  });
  return uniqueNfts(nfts);
}

/** Returns the standard that marketplaces have instructions of their own for. */
const standardByName = (name: string): Nft['tokenStandard'] =>
  /(^|_)core(_|$)/.test(name) ? 'MplCoreAsset' : /(^|_)mip1_/.test(name) ? 'ProgrammableNonFungible' : null;

const toNft = (mint: string, { tokenStandards }: TransactionFacts, otherwise: Nft['tokenStandard'] = null): Nft => ({
  mint,
  tokenStandard: tokenStandards.get(mint) ?? otherwise,
});

/** Returns each NFT once; those without a known id can't be distinguished and stay. */
const uniqueNfts = (nfts: readonly Nft[]): readonly Nft[] => [
  ...new Map(nfts.map(({ mint, tokenStandard }, place) => [mint ?? place, { mint, tokenStandard }] as const)).values(),
];

/**
 * Interprets an NFT that was exchanged for something; it was sold if a marketplace did it. With programs of other kinds an
 * NFT may be collateral, a position or a stake.
 */
function interpretExchange(facts: TransactionFacts): ReturnType<Rule> {
  const { swap, mainProgram, payments } = facts;
  if (swap === null || !(isMakerOfNfts(mainProgram) || !KNOWN_PROGRAMS.has(mainProgram ?? ''))) return null;
  const [given, received] = [swap.inputs.filter(isNftAmount), swap.outputs.filter(isNftAmount)];
  const traded = [...given, ...received];
  if (traded.length === 0) return null;
  const nfts = traded.map(({ mint }) => toNft(mint, facts));
  const common = { actor: swap.wallet ?? facts.actor, program: mainProgram, nfts, states: swap.states };
  const isPurchase = received.length > 0;
  const [price, ...more] = isPurchase ? swap.inputs : swap.outputs;
  const isSale = programRole(mainProgram) === 'marketplace' && swap.wallet !== null;
  if (!isSale || price === undefined || more.length > 0 || (given.length > 0 && isPurchase))
    return { type: 'NFT_TRANSFER', ...common, swap, payments, gained: [], lost: [] };
  const [party, money] = isPurchase ? (['buyer', 'price'] as const) : (['seller', 'proceeds'] as const);
  return deedOf('NFT_SALE', nfts, { ...common, [party]: swap.wallet, [money]: price });
}

/** Interprets NFTs that were sent, minted or burned, those in no token account too. */
export const nftTransferRule: Rule = (facts) => {
  const assets = findAssetCalls(facts.parsed.instructions, facts.instructionOf);
  return (
    interpretTransfer(assets, facts) ??
    interpretAssetCall(assets, facts) ??
    interpretBurn(facts) ??
    interpretMint(facts)
  );
};

function interpretTransfer(calledAssets: readonly AssetCall[], facts: TransactionFacts): ReturnType<Rule> {
  const { parsed, mainProgram, isAttempt } = facts;
  if (isAttempt) return null;
  const assets = calledAssets.filter(({ type, to }) => type === 'NFT_TRANSFER' && to !== null);
  const ids = new Set(assets.map(({ mint }) => mint));
  const isAsset = ({ kind, given: [first] }: Action): boolean => kind === 'asset' && ids.has(first?.mint ?? null);
  const sent = parsed.actions.filter((action) => isSent(action) || isAsset(action));
  const payments = [...paymentsIn(sent), ...sentToItself(parsed)];
  const tokens = payments.filter((payment) => isNftAmount(payment) && !ids.has(payment.mint));
  if (tokens.length + assets.length === 0) return null;
  const nfts = uniqueNfts([...tokens.map(({ mint }) => toNft(mint, facts)), ...assets]);
  const common = { actor: facts.actor, program: mainProgram, nfts, swap: null, ...calledChange(facts, null) };
  return { type: 'NFT_TRANSFER', ...common, payments, states: shareOf(sent) };
}

/** Returns what was done to NFTs. */
const statesOfNfts = (nfts: readonly Nft[], { parsed }: TransactionFacts): readonly Share[] => {
  const mints = new Set(nfts.map(({ mint }) => mint));
  return shareOf(parsed.actions.filter(({ given, got }) => [...given, ...got].some(({ mint }) => mints.has(mint))));
};

/** Returns what a marketplace moved, the payment into a buyer's escrow too, but no deposits. */
const statesOfSale = (program: string | null, { parsed }: TransactionFacts): readonly Share[] => {
  return shareOf(
    parsed.actions.filter((action) => !['rent', 'direct', 'close'].includes(action.kind) && action.program === program),
  );
};

/** Types of calls of Core and Bubblegum, the most significant first. */
const ASSET_TYPES: readonly NftType[] = [
  'NFT_MINT',
  'COMPRESSED_NFT_MINT',
  'COMPRESSED_NFT_TRANSFER',
  'BURN_NFT',
  'COMPRESSED_NFT_BURN',
];

function interpretAssetCall(calls: readonly AssetCall[], facts: TransactionFacts): NftInterpretation | null {
  const { parsed, mainProgram } = facts;
  for (const type of ASSET_TYPES) {
    const found = calls.filter((call) => call.type === type);
    if (found.length === 0) continue;
    const nfts = uniqueNfts(found);
    const isMint = type === 'NFT_MINT' || type === 'COMPRESSED_NFT_MINT';
    const common = { actor: facts.actor, program: mainProgram };
    const parties = { seller: onlyValue(found.map(({ from }) => from)), buyer: onlyValue(found.map(({ to }) => to)) };
    const refund = type === 'BURN_NFT' ? refundOf(parties.seller, facts) : 0n;
    const steps = new Set(found.map(({ step }) => step));
    const assets = parsed.actions.filter(
      ({ kind, instruction }) => kind === 'asset' && steps.has(instruction?.[0] ?? -1),
    );
    const states = [
      ...shareOf(assets),
      ...(isMint ? statesOfPrice(facts) : []),
      ...(refund > 0n ? statesOfRefund(facts) : []),
    ];
    return deedOf(type, nfts, { ...common, ...parties, price: isMint ? mintPrice(facts) : null, refund, states });
  }
  return null;
}

/** Returns whether NFTs of a program are what they seem: those of others stand for positions, tickets, shares. */
const isMakerOfNfts = (program: string | null): boolean =>
  program === null || ['nft', 'marketplace'].includes(programRole(program));

/** Returns whether a program is known by name alone, such as one that burns what people want to be rid of. */
const isKnownForNothing = (program: string | null): boolean =>
  KNOWN_PROGRAMS.has(program ?? '') && programRole(program) === 'other';

/** Interprets the burn of an NFT: one of Token Metadata, or a single token that nothing else was done with. */
function interpretBurn(facts: TransactionFacts): NftInterpretation | null {
  const { parsed, mainProgram, burned, calls, instructionOf, isAttempt } = facts;
  const nfts = burned.filter(isNftAmount);
  const isNamed = calls.some(
    (call) => call.programId === METADATA_PROGRAM && /^burn/.test(instructionOf(call)?.name ?? ''),
  );
  const isBurner = isMakerOfNfts(mainProgram) || isNamed || isKnownForNothing(mainProgram);
  if (!isBurner || nfts.length < burned.length || (nfts.length === 0 && !(isAttempt && isNamed))) return null;
  const burns = parsed.tokenTransfers.filter(({ toTokenAccount }) => toTokenAccount === null);
  const seller = onlyValue(burns.map(({ fromUserAccount }) => fromUserAccount));
  const burnedNfts = uniqueNfts(nfts.map(({ mint }) => toNft(mint, facts)));
  const refund = refundOf(seller, facts);
  const states = [...statesOfNfts(burnedNfts, facts), ...(refund > 0n ? statesOfRefund(facts) : [])];
  const actor = seller ?? facts.actor;
  return deedOf('BURN_NFT', burnedNfts, { actor, program: mainProgram, seller, refund, states });
}

/** Returns the rent that a burn gave back to a wallet: all that it has more, but for payments. */
function refundOf(wallet: string | null, { parsed, payments, tips }: TransactionFacts): bigint {
  const { feePayer, fee, accountData } = parsed;
  const change = accountData.find(({ account }) => account === wallet)?.nativeBalanceChange ?? '0';
  const sums = [...payments, ...tips].filter(({ mint }) => mint === WRAPPED_SOL);
  const sum = sums.reduce(
    (total, { from, to, amount }) => total + (from === wallet ? amount : 0n) - (to === wallet ? amount : 0n),
    BigInt(change) + (wallet === feePayer ? BigInt(fee) : 0n),
  );
  return sum > 0n ? sum : 0n;
}

/** Interprets NFTs that were minted, alone, by a program that makes NFTs or with metadata of their own. */
function interpretMint(facts: TransactionFacts): NftInterpretation | null {
  const { parsed, mainProgram, minted, calls, instructionOf, isAttempt } = facts;
  const nfts = minted.filter(isNftAmount);
  const isNamed = calls.some((call) => instructionOf(call)?.type === 'NFT_MINT');
  const hasMetadata = calls.some(
    ({ programId, type }) => programId === METADATA_PROGRAM || type === 'initializeTokenMetadata',
  );
  const isMaker = isMakerOfNfts(mainProgram) || !KNOWN_PROGRAMS.has(mainProgram ?? '');
  if (!isMaker || !(isNamed || hasMetadata) || nfts.length < minted.length) return null;
  if (nfts.length === 0 && !(isAttempt && isNamed)) return null;
  const mints = parsed.tokenTransfers.filter(({ fromTokenAccount }) => fromTokenAccount === null);
  const mintedNfts = uniqueNfts(nfts.map(({ mint }) => toNft(mint, facts)));
  const buyer = onlyValue(mints.map(({ toUserAccount }) => toUserAccount));
  const states = [...statesOfNfts(mintedNfts, facts), ...statesOfPrice(facts)];
  const common = { actor: facts.actor, program: mainProgram };
  return deedOf('NFT_MINT', mintedNfts, { ...common, buyer, price: mintPrice(facts), states });
}

const statesOfRefund = ({ parsed }: TransactionFacts): readonly Share[] =>
  shareOf(parsed.actions.filter(({ kind }) => kind === 'direct' || kind === 'close'));

const statesOfPrice = (facts: TransactionFacts): readonly Share[] => {
  const price = mintPrice(facts);
  const { parsed, actor: payer } = facts;
  return shareOf(
    parsed.actions.filter(
      ({ kind, actor, given: [first] }) => kind === 'transfer' && actor === payer && first?.mint === price?.mint,
    ),
  );
};

/** Returns what the actor paid for a mint; null if nothing, or in several currencies. */
function mintPrice({ actor, payments }: TransactionFacts): AssetAmount | null {
  const paid = payments.filter(({ from, to }) => from === actor && to !== actor);
  const [first] = paid;
  if (first === undefined || paid.some(({ mint }) => mint !== first.mint)) return null;
  const amount = paid.reduce((sum, payment) => sum + payment.amount, 0n);
  return { mint: first.mint, amount, decimals: first.decimals };
}
