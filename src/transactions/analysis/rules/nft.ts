import { isWrappedSol, WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { asBigInt, asString } from '../../codec/json-fields.ts';
import { KNOWN_PROGRAMS, programRole } from '../../programs/known-programs.ts';
import { type Action, type ActionAmount, effectsOf, toAmount } from '../action.ts';
import type { AssetAmount } from '../asset-amount.ts';
import type { NftInterpretation } from '../interpretation.ts';
import { type AssetCall, findAssetCalls, findTokenStandards, type Nft } from '../nft-asset.ts';
import { findSaleMoney, isPaidApart, type NamedCall, UNKNOWN_MONEY } from '../nft-sale.ts';
import { onlyValue } from '../only-value.ts';
import type { ParsedInstruction } from '../parsed-transaction.ts';
import { isNftAmount, paymentsIn, sentToItself, sumByMint } from '../payments.ts';
import { isSent } from '../remainder.ts';
import { creditOf, type Share, shareOf } from '../share.ts';
import type { Rule, TransactionFacts } from '../transaction-facts.ts';
import { closedBy } from './accounts.ts';

type NftType = NftInterpretation['type'];

/** What marketplaces are called for, the most significant first: accepting a bid lists and sells in one transaction. */
export const MARKET_TYPES: readonly NftType[] = [
  'NFT_SALE',
  'NFT_LISTING',
  'NFT_BID',
  'NFT_CANCEL_LISTING',
  'NFT_BID_CANCELLED',
];

/** Interprets sales, listings and bids, and an NFT that was exchanged through a program of NFTs whose call is in no table. */
export const nftTradeRule: Rule = (facts) => interpretMarketCall(facts) ?? interpretExchange(facts);

/** Makes an interpretation; what it does not have is unknown, or nothing. */
const deedOf = (
  type: NftType,
  nfts: readonly Nft[],
  known: Pick<NftInterpretation, 'actor' | 'program' | 'states'> & Partial<NftInterpretation>,
): NftInterpretation => ({
  seller: null,
  buyer: null,
  mover: null,
  ...UNKNOWN_MONEY,
  refund: 0n,
  ...known,
  type,
  nfts,
});

function interpretMarketCall(facts: TransactionFacts): NftInterpretation | null {
  const named = findMarketCalls(facts);
  for (const type of MARKET_TYPES) {
    const calls = named.filter(({ instruction }) => instruction.type === type);
    if (calls.length > 0) return type === 'NFT_SALE' ? interpretSale(calls, facts) : interpretOffer(type, calls, facts);
  }
  return null;
}

function findMarketCalls({ parsed, calls, instructionOf }: TransactionFacts): readonly NamedCall[] {
  const isOfMarket = (call: ParsedInstruction): boolean =>
    MARKET_TYPES.some((type) => type === instructionOf(call)?.type);
  if (!calls.some(isOfMarket)) return [];
  return parsed.instructions.flatMap((topLevel) =>
    [topLevel, ...topLevel.innerInstructions].filter(isOfMarket).flatMap((call) => {
      const instruction = instructionOf(call);
      return instruction === null ? [] : [{ call, instruction, step: topLevel.index }];
    }),
  );
}

function interpretSale(sales: readonly NamedCall[], facts: TransactionFacts): NftInterpretation {
  const seller = partyOf(sales, 'seller');
  const buyer = partyOf(sales, 'buyer');
  const program = sales[0]?.call.programId ?? null;
  const nfts = nftsOf(sales, facts);
  const actor = actorOf(facts, [buyer, seller]);
  const steps = new Set(sales.map(({ step }) => step));
  const parties = [buyer ?? seller ?? actor, seller ?? buyer ?? actor]; // whom the sentence names
  const money = facts.isAttempt ? UNKNOWN_MONEY : findSaleMoney(sales, parties, facts);
  const states = statesOfSale(nfts, program, money.price, { steps, buyer: buyer ?? actor, parties }, facts);
  return deedOf('NFT_SALE', nfts, { actor, program, seller, buyer, ...money, states });
}

/** Interprets listings and bids, placed or cancelled. */
function interpretOffer(type: NftType, offers: readonly NamedCall[], facts: TransactionFacts): NftInterpretation {
  const nfts = nftsOf(offers, facts);
  const isBid = type === 'NFT_BID' || type === 'NFT_BID_CANCELLED';
  const party = partyOf(offers, isBid ? 'buyer' : 'seller');
  const program = offers[0]?.call.programId ?? null;
  return deedOf(type, nfts, {
    actor: party ?? facts.actor,
    program,
    states: statesOfNfts(nfts, facts, (action) => action.program === program),
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
  const { parsed, payments } = facts;
  const sent = findAssetCalls(parsed.instructions).filter(({ type }) => type?.endsWith('NFT_TRANSFER'));
  const paid = payments.filter(isNftAmount).map(({ mint, step }) => ({ ...toNft(mint, facts), step }));
  const stepsWithoutNames = new Set<number>();
  const nfts = named.flatMap(({ instruction: { name, roles }, step }): readonly Nft[] => {
    if (roles.mint !== undefined) return [toNft(roles.mint, facts, standardByName(name))];
    if (stepsWithoutNames.has(step)) return [];
    stepsWithoutNames.add(step);
    return [...sent, ...paid].filter((moved) => moved.step === step);
  });
  return uniqueNfts(nfts);
}

/** Returns the standard that marketplaces have instructions of their own for. */
const standardByName = (name: string): Nft['tokenStandard'] =>
  /(^|_)core(_|$)/.test(name) ? 'MplCoreAsset' : /(^|_)mip1_/.test(name) ? 'ProgrammableNonFungible' : null;

const toNft = (mint: string, { parsed }: TransactionFacts, otherwise: Nft['tokenStandard'] = null): Nft => ({
  mint,
  tokenStandard: findTokenStandards(parsed.instructions).get(mint) ?? otherwise,
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
  const { swap, payments } = facts;
  if (swap === null || !isMakerOfNfts(swap.program)) return null;
  const { program } = swap;
  const [given, received] = [swap.inputs.filter(isNftAmount), swap.outputs.filter(isNftAmount)];
  const traded = [...given, ...received];
  if (traded.length === 0) return null;
  const nfts = traded.map(({ mint }) => toNft(mint, facts));
  const common = { actor: swap.wallet ?? facts.actor, program, nfts, states: swap.states };
  const isPurchase = received.length > 0;
  const [price, ...more] = isPurchase ? swap.inputs : swap.outputs;
  const isSale = programRole(program) === 'marketplace' && swap.wallet !== null;
  if (!isSale || price === undefined || more.length > 0 || (given.length > 0 && isPurchase))
    return { type: 'NFT_TRANSFER', ...common, swap, payments };
  const [party, money] = isPurchase ? (['buyer', 'price'] as const) : (['seller', 'proceeds'] as const);
  return deedOf('NFT_SALE', nfts, { ...common, [party]: swap.wallet, [money]: price });
}

/** Interprets NFTs that were sent, minted or burned, those in no token account too. */
export const nftTransferRule: Rule = (facts) => {
  const assets = findAssetCalls(facts.parsed.instructions);
  return (
    interpretTransfer(assets, facts) ??
    interpretAssetCall(assets, facts) ??
    interpretBurn(facts) ??
    interpretMint(facts)
  );
};

function interpretTransfer(calledAssets: readonly AssetCall[], facts: TransactionFacts): ReturnType<Rule> {
  const { parsed, isAttempt } = facts;
  if (isAttempt) return null;
  const assets = calledAssets.filter(({ type, to }) => type === 'NFT_TRANSFER' && to !== null);
  const ids = new Set(assets.map(({ mint }) => mint));
  const isAsset = ({ kind, given: [first] }: Action): boolean => kind === 'asset' && ids.has(first?.mint ?? null);
  const sent = parsed.actions.filter((action) => isSent(action) || isAsset(action));
  const payments = [...paymentsIn(sent), ...sentToItself(parsed)];
  const tokens = payments.filter((payment) => isNftAmount(payment) && !ids.has(payment.mint));
  if (tokens.length + assets.length === 0) return null;
  const nfts = uniqueNfts([...tokens.map(({ mint }) => toNft(mint, facts)), ...assets]);
  const states = shareOf(sent);
  return { type: 'NFT_TRANSFER', actor: facts.actor, program: creditOf(states), nfts, swap: null, payments, states };
}

/** Returns what was done to NFTs by the actions that are of the deed, and moved nothing else. */
const statesOfNfts = (
  nfts: readonly Nft[],
  { parsed }: TransactionFacts,
  isOfDeed: (action: Action) => boolean,
): readonly Share[] => {
  const mints = new Set(nfts.map(({ mint }) => mint));
  const isNft = (amount: ActionAmount): boolean => mints.has(amount.mint) && isNftAmount(toAmount(amount));
  return shareOf(parsed.actions.filter((action) => [...action.given, ...action.got].every(isNft) && isOfDeed(action)));
};

/** Returns what a marketplace moved of NFTs and of the currency, the payment of a price into a buyer's escrow too, but no deposits. */
const statesOfSale = (
  nfts: readonly Nft[],
  program: string | null,
  price: AssetAmount | null,
  {
    steps,
    buyer,
    parties,
  }: { readonly steps: ReadonlySet<number>; readonly buyer: string; parties: readonly string[] },
  facts: TransactionFacts,
): readonly Share[] => {
  const callers = facts.parsed.instructions.filter(({ index }) => steps.has(index)).map(({ programId }) => programId);
  /** Returns whether a party got it from a caller without an instruction: that is credited to what the transaction called. */
  const isOfCaller = ({ counterparty, program: maker, instruction }: Action): boolean =>
    maker !== null && instruction === null && callers.includes(maker) && parties.includes(counterparty ?? '');
  const isOfMarket = (action: Action): boolean =>
    !['rent', 'direct', 'close'].includes(action.kind) && (action.program === program || isOfCaller(action));
  const isPaid = ({ actor, authority, given, got }: Action): boolean =>
    [...given, ...got].every(({ mint }) => mint === price?.mint) &&
    !isPaidApart(actor, authority, parties, facts.parsed);
  const all = facts.parsed.actions.filter((action) => isOfMarket(action) && isPaid(action));
  const isPaidByCall = all.some(({ instruction }) => steps.has(instruction?.[0] ?? -1)); // then what no instruction moved is no price
  const paid = isPaidByCall ? all.filter(({ program: maker }) => maker === program) : all;
  const spent = paid
    .flatMap(effectsOf)
    .reduce((sum, [wallet, { amount }]) => (wallet === buyer ? sum - amount : sum), 0n);
  const isOfSale = ({ instruction }: Action): boolean =>
    spent === price?.amount || instruction === null || steps.has(instruction[0]);
  const [taker] = parties;
  const isOfParties = ({ actor, counterparty, program: maker }: Action): boolean =>
    callers.includes(maker ?? '') && parties.includes(actor) && counterparty === taker; // not what goes back
  const isSold = (action: Action): boolean => isOfMarket(action) || isOfParties(action);
  return [...statesOfNfts(nfts, facts, isSold), ...shareOf(price === null ? [] : paid.filter(isOfSale))];
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
  const { parsed } = facts;
  for (const type of ASSET_TYPES) {
    const ofType = calls.filter((call) => call.type === type);
    const isMint = type === 'NFT_MINT' || type === 'COMPRESSED_NFT_MINT';
    const [first] = ofType;
    if (first === undefined) continue;
    // a sentence names one giver and one receiver; what else was given away is described apart
    const isAlike = ({ from, to, delegate }: AssetCall): boolean =>
      from === first.from && to === first.to && delegate === first.delegate;
    const found = isMint ? ofType : ofType.filter(isAlike);
    const places = new Set(found.map(({ step, inner }) => [step, inner].join(' ')));
    const isFound = ({ kind, instruction }: Action): boolean =>
      kind === 'asset' && places.has(instruction?.join(' ') ?? '');
    const done = parsed.actions.filter(isFound);
    const [{ authority = null, role = 'owner' } = {}] = done;
    const program = onlyValue(found.map((call) => call.program));
    const refund = type === 'BURN_NFT' ? refundOf(first.from, program, facts) : NO_REFUND;
    const price = isMint ? mintPrice(program, facts) : NO_PRICE;
    return deedOf(type, uniqueNfts(found), {
      actor: facts.actor,
      program,
      seller: first.from,
      buyer: onlyValue(found.map(({ to }) => to)),
      price: price.amount,
      refund: refund.lamports,
      mover: authority === null ? null : { authority, role },
      states: [...shareOf(done), ...price.states, ...refund.states],
    });
  }
  return null;
}

/** Returns whether NFTs of a program are what they seem: those of others stand for positions, tickets, shares. */
const isMakerOfNfts = (program: string | null): boolean =>
  program === null || ['nft', 'marketplace'].includes(programRole(program));

/** Returns whether a program is known by name alone, such as one that burns what people want to be rid of. */
const isKnownForNothing = (program: string | null): boolean =>
  KNOWN_PROGRAMS.has(program ?? '') && programRole(program) === 'other';

/** Interprets the burn of an NFT by its owner: one of Token Metadata, or a single token that nothing else was done with. */
function interpretBurn(facts: TransactionFacts): NftInterpretation | null {
  const { parsed, mainProgram, burned, calls, instructionOf, isAttempt } = facts;
  const nfts = burned.filter(isNftAmount);
  const isNamed = calls.some(
    (call) => call.programId === METADATA_PROGRAM && /^burn/.test(instructionOf(call)?.name ?? ''),
  );
  const isBurner = isMakerOfNfts(mainProgram) || isNamed || isKnownForNothing(mainProgram);
  if (!isBurner || nfts.length < burned.length || (nfts.length === 0 && !(isAttempt && isNamed))) return null;
  const burns = parsed.actions.filter(({ kind }) => kind === 'burn');
  const owner = burns[0]?.actor ?? null;
  if (burns.some(({ actor, authority }) => actor !== owner || authority !== null)) return null;
  const program = isAttempt ? mainProgram : creditOf(shareOf(burns));
  const refund = refundOf(owner, program, facts);
  return deedOf('BURN_NFT', uniqueNfts(nfts.map(({ mint }) => toNft(mint, facts))), {
    actor: owner ?? facts.actor,
    program,
    seller: owner,
    refund: refund.lamports,
    states: [...shareOf(burns), ...refund.states],
  });
}

const NO_REFUND = { lamports: 0n, states: [] };

/**
 * Returns what closed accounts gave back to a wallet: its own, but for wrapped SOL, and those that the program of a burn closed
 * for it, if that is known to pay nothing else.
 */
function refundOf(
  wallet: string | null,
  burner: string | null,
  { parsed }: TransactionFacts,
): { lamports: bigint; states: readonly Share[] } {
  const own = closedBy(wallet, parsed).filter(({ tokenBalanceChanges }) =>
    tokenBalanceChanges.every(({ mint }) => !isWrappedSol(mint)),
  );
  const isRent = programRole(burner) === 'nft' || isKnownForNothing(burner);
  const freed = parsed.actions.filter(
    ({ kind, actor, counterparty, authority, program }) =>
      ((kind === 'direct' && actor === wallet) ||
        (kind === 'close' && counterparty === wallet && authority === null)) &&
      isRent &&
      program === burner,
  );
  const lamports = freed.flatMap(({ given, got }) => [...given, ...got]).map(({ amount }) => BigInt(amount));
  for (const { nativeBalanceChange } of own) lamports.push(-BigInt(nativeBalanceChange ?? 0));
  return { lamports: lamports.reduce((sum, amount) => sum + amount, 0n), states: shareOf(freed, wallet) };
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
  const mints = parsed.actions.filter(({ kind }) => kind === 'mint');
  const program = isAttempt ? mainProgram : creditOf(shareOf(mints));
  const price = mintPrice(program, facts);
  return deedOf('NFT_MINT', uniqueNfts(nfts.map(({ mint }) => toNft(mint, facts))), {
    actor: facts.actor,
    program,
    buyer: onlyValue(mints.map(({ actor }) => actor)),
    price: price.amount,
    states: [...shareOf(mints), ...price.states],
  });
}

const NO_PRICE = { amount: null, states: [] };

/** Returns what the actor paid in the calls of the program that minted, if that is known; null if nothing, or in several currencies. */
function mintPrice(
  program: string | null,
  { parsed, actor }: TransactionFacts,
): { readonly amount: AssetAmount | null; readonly states: readonly Share[] } {
  const isMaker = program !== null && isMakerOfNfts(program); // who got what is paid through others is named
  const paid = parsed.actions.filter(
    (action) => isMaker && isSent(action) && action.actor === actor && action.program === program,
  );
  const [amount = null, ...others] = sumByMint(paid.flatMap(({ given }) => given.map(toAmount)));
  return others.length > 0 ? NO_PRICE : { amount, states: shareOf(paid) };
}
