import { z } from 'zod';
import { bigInteger, integer } from '../../routing/schemas.ts';
import { AUTHORITY_CHANGE_KINDS } from '../../solana/analysis/authority-changes.ts';
import { CONFIDENTIAL_TRANSFER_TYPES } from '../../solana/analysis/confidential-transfers.ts';
import { TOKEN_STANDARDS } from '../../solana/analysis/nft-asset.ts';
import type { EnhancedTransaction } from '../../solana/explain/enhanced-transaction.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../../solana/programs/transaction-types.ts';

const TYPE_NAMES = Object.keys(TRANSACTION_TYPES) as TransactionType[];
const TYPE_MEANINGS = TYPE_NAMES.map((name) => `- \`${name}\`: ${TRANSACTION_TYPES[name]}`).join('\n');

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

const instructionSchema = <T extends z.ZodType>(innerSchema: T) =>
  z.strictObject({
    index: integer,
    programId: z.string(),
    programName: nullableString,
    type: nullableString,
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
  status: z.enum(['success', 'failed']),
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
        amount: nullableString,
        tokenBalance: nullableString,
        decimals: integer.nullable(),
        lamports: nullableString,
        lockup: z.strictObject({ unixTimestamp: nullableString, epoch: nullableString }).nullable(),
        instructionIdx: integer,
        innerInstructionIdx: integer.nullable(),
      }),
    )
    .default([])
    .describe('rights that changed hands, with the holder before and after and what is at stake'),
  accountData: z.array(
    z.strictObject({
      account: z.string(),
      nativeBalanceChange: z.string(),
      tokenBalanceChanges: z.array(tokenBalanceChange),
    }),
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
          .array(z.strictObject({ mint: nullableString, tokenStandard: z.enum(TOKEN_STANDARDS).nullable() }))
          .describe('Mints, or asset ids of those that have none: compressed ones and those of Metaplex Core'),
        seller: nullableString.describe('Whoever sold, listed or gave away; null if unknown, nobody or several'),
        buyer: nullableString.describe('Whoever bought, bid or got it; null if unknown, nobody or several'),
        amount: nullableString.describe(
          'The price in smallest units: what the buyer paid in all, what is asked or bid, or what a mint cost',
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
});
