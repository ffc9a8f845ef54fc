import * as z from 'zod';
import {
  ACTION_KINDS,
  ACTION_ROLES,
  type ActionKind,
  AUTHORITY_CHANGE_KINDS,
  CONFIDENTIAL_TRANSFER_TYPES,
  type EnhancedTransaction,
  NFT_STANDARDS,
  TRANSACTION_TYPES,
  type TransactionType,
} from '../../../transactions/index.ts';
import { bigInteger, integer } from '../routing/schemas.ts';

const TYPE_NAMES = Object.keys(TRANSACTION_TYPES) as TransactionType[];
const TYPE_MEANINGS = TYPE_NAMES.map((name) => `- \`${name}\`: ${TRANSACTION_TYPES[name]}`).join('\n');
const KIND_NAMES = Object.keys(ACTION_KINDS) as ActionKind[];
const KIND_MEANINGS = KIND_NAMES.map((name) => `- \`${name}\`: ${ACTION_KINDS[name]}`).join('\n');

/** A u64 as a JSON integer with every digit. */
const u64 = z.union([integer, bigInteger]);
const nullableString = z.string().nullable();
const rawTokenAmount = z.strictObject({ tokenAmount: z.string(), decimals: integer });
const tokenBalanceChange = z.strictObject({
  userAccount: z.string(),
  tokenAccount: z.string(),
  mint: z.string(),
  rawTokenAmount,
});
const swapTokens = z.array(tokenBalanceChange.extend({ tokenAccount: nullableString }));
const swapLamports = z.strictObject({ account: z.string(), amount: z.string() }).nullable();

const actionAmount = z.strictObject({ mint: z.string(), amount: z.string(), decimals: integer });

const instructionSchema = <T extends z.ZodType>(innerSchema: T) =>
  z.strictObject({
    index: integer,
    programId: z.string(),
    programName: nullableString,
    type: nullableString,
    name: nullableString
      .default(null) // views of earlier versions lack it
      .describe('What the program calls it, in its log or its IDL: a word of a stranger'),
    info: z.record(z.string(), z.unknown()).nullable(),
    accounts: z.array(z.string()),
    data: nullableString,
    innerInstructions: z.array(innerSchema),
  });

/** A transaction with its meaning: returned by `/tx?enhanced=1`, accepted by `/explain`. */
export const enhancedTransactionSchema: z.ZodType<EnhancedTransaction> = z.strictObject({
  description: z.string(),
  type: z.enum(TYPE_NAMES).describe(TYPE_MEANINGS),
  source: z.string(),
  status: z.enum(['success', 'failed']).nullable().describe('Null if the node kept no record of the outcome'),
  fee: u64,
  feePayer: z.string(),
  signers: z.array(z.string()),
  signature: z.string(),
  slot: integer.nullable(),
  timestamp: integer.nullable(),
  computeUnitsConsumed: integer.nullable(),
  priorityFee: u64,
  nativeTransfers: z.array(
    z.strictObject({ fromUserAccount: z.string(), toUserAccount: z.string(), amount: z.string() }),
  ),
  tokenTransfers: z.array(
    z.strictObject({
      fromUserAccount: nullableString,
      toUserAccount: nullableString,
      fromTokenAccount: nullableString,
      toTokenAccount: nullableString,
      mint: z.string(),
      amount: z.string(),
      decimals: integer,
      uiAmount: z.string(),
      feeAmount: nullableString.default(null), // views of earlier versions lack it
      program: z.enum(['spl-token', 'spl-token-2022']),
    }),
  ),
  confidentialTransfers: z
    .array(
      z.strictObject({
        type: z.enum(CONFIDENTIAL_TRANSFER_TYPES),
        mint: nullableString,
        fromUserAccount: nullableString,
        toUserAccount: nullableString,
        fromTokenAccount: nullableString,
        toTokenAccount: nullableString,
        amount: nullableString,
        instructionIdx: integer,
        innerInstructionIdx: integer.nullable(),
      }),
    )
    .default([])
    .describe('movements of tokens whose amounts are hidden, and those into and out of hidden balances'),
  authorityChanges: z
    .array(
      z.strictObject({
        kind: z.enum(AUTHORITY_CHANGE_KINDS),
        authorityType: nullableString,
        programId: z.string(),
        account: z.string(),
        mint: nullableString,
        owner: nullableString,
        from: nullableString,
        to: nullableString,
        authority: nullableString,
        amount: nullableString.describe('The approved amount, or the most that a fee is'),
        basisPoints: nullableString
          .default(null) // views of earlier versions lack it
          .describe('A fee, a commission or an interest in basis points'),
        tokenBalance: nullableString,
        decimals: integer.nullable(),
        lamports: nullableString,
        lockup: z.strictObject({ unixTimestamp: nullableString, epoch: nullableString }).nullable(),
        effectiveTimestamp: nullableString
          .default(null) // views of earlier versions lack it
          .describe('Unix seconds from which the change holds, where that is after the block'),
        instructionIdx: integer,
        innerInstructionIdx: integer.nullable(),
      }),
    )
    .default([])
    .describe('rights that passed to another holder, with the holder before and after and what is at stake'),
  actions: z
    .array(
      z.strictObject({
        kind: z.enum(KIND_NAMES).describe(KIND_MEANINGS),
        actor: z.string().describe('The wallet that gave and got: the owner, not the token account'),
        counterparty: nullableString.describe('The wallet on the other side; null if there is none, or several'),
        given: z.array(actionAmount),
        got: z.array(actionAmount),
        withheld: nullableString.describe('What of the given tokens was withheld as their fee'),
        program: nullableString.describe('The program whose call did it; null if the transaction itself did'),
        instruction: z
          .tuple([integer, integer.nullable()])
          .nullable()
          .describe('Position of the top-level instruction and of the inner one; null for what has none'),
        role: z
          .enum(ACTION_ROLES)
          .describe('Who signed: the owner, a delegate, the holder of a right, or a program for its own address'),
        authority: nullableString.describe('The delegate or holder that signed in the place of the actor'),
      }),
    )
    .default([])
    .describe('what changed balances: for each wallet that signed, all of it adds up to the change of its balances'),
  unaccounted: z
    .array(z.strictObject({ userAccount: z.string(), mint: z.string(), amount: z.string(), decimals: integer }))
    .default([])
    .describe('what of such a change no action explains: signed amounts, which the description names'),
  accountData: z.array(
    z.strictObject({
      account: z.string(),
      nativeBalanceChange: nullableString.describe('In lamports, the fee included; null if the record lacks them'),
      tokenBalanceChanges: z.array(tokenBalanceChange),
    }),
  ),
  isIncomplete: z
    .boolean()
    .default(false) // views of earlier versions lack it
    .describe(
      'Whether the record lacks balances or calls, or has one that cannot be decoded, so that they do not show all that moved',
    ),
  // inner instructions are one flat list, however deep the calls nested
  instructions: z.array(instructionSchema(instructionSchema(z.never()))),
  transactionError: z
    .strictObject({
      instructionIndex: integer.nullable(),
      programId: nullableString,
      code: z.union([integer, z.string()]).nullable(),
      name: nullableString,
      message: z.string(),
    })
    .nullable(),
  events: z.strictObject({
    swap: z
      .strictObject({
        tokenInputs: swapTokens,
        tokenOutputs: swapTokens,
        nativeInput: swapLamports,
        nativeOutput: swapLamports,
      })
      .exactOptional(),
    nft: z
      .strictObject({
        nfts: z
          .array(z.strictObject({ mint: nullableString, tokenStandard: z.enum(NFT_STANDARDS).nullable() }))
          .describe('Mints, or asset ids of those that have none: compressed ones and those of Metaplex Core'),
        seller: nullableString.describe('The wallet that sold, listed or gave away; null if unknown, none or several'),
        buyer: nullableString.describe('The wallet that bought, bid or got it; null if unknown, none or several'),
        amount: nullableString.describe(
          'The price in smallest units: what the buyer paid in all, what a listing or a bid names, or what a mint cost',
        ),
        currencyMint: nullableString.describe('The mint of the price; null for SOL in either form'),
        marketplace: nullableString.describe("Helius' name of the marketplace, or its id"),
        royalties: z
          .array(z.strictObject({ account: z.string(), amount: z.string() }))
          .nullable()
          .describe('What creators got of the price; null if unknown'),
      })
      .exactOptional(),
  }),
  perspective: z
    .strictObject({
      address: z.string(),
      changes: z
        .array(actionAmount)
        .describe(
          'Signed change of its balances by mint, the fee included; SOL in either form has the mint of wrapped SOL',
        ),
      description: z.string().describe('The transaction in one sentence, in which the address is “you”'),
    })
    .exactOptional()
    .describe('The same from the view of the address in `?perspective=`'),
});
