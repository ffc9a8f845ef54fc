import * as z from 'zod';
import { type DescribedNetRow, TRANSFER_TYPES, type TransferRow } from '../../../transactions/index.ts';
import { integer, rawJson } from '../routing/schemas.ts';

const confirmationStatus = z.enum(['confirmed', 'finalized']);
const nullableString = z.string().nullable();
const asset = z.enum(['SOL', 'token']);

export const signatureRow = z.strictObject({
  signature: z.string(),
  slot: integer,
  blockTime: integer.nullable(),
  confirmationStatus,
  err: rawJson,
  memo: nullableString,
});

export const netRow: z.ZodType<DescribedNetRow> = z
  .strictObject({
    type: z.literal('net'),
    signature: z.string(),
    slot: integer.nullable(),
    blockTime: integer.nullable(),
    confirmationStatus,
    status: z.enum(['success', 'failed']).nullable().describe('Null if the node kept no record of the outcome'),
    fee: nullableString.describe('Lamports that the address paid as the fee; null if another account paid it'),
    changes: z
      .array(
        z.strictObject({
          asset,
          mint: nullableString,
          symbol: nullableString,
          amount: z.string().describe('Signed amount in smallest units, the fee included'),
          decimals: integer,
          uiAmount: z.string(),
        }),
      )
      .readonly(),
    description: nullableString.describe('The transaction in one sentence, in which the address is “you”'),
  })
  .describe('All that a transaction changed for the address: the first row of each transaction');

export const transferRow: z.ZodType<TransferRow> = z.strictObject({
  signature: z.string(),
  slot: integer.nullable(),
  blockTime: integer.nullable(),
  confirmationStatus,
  type: z.enum(TRANSFER_TYPES),
  asset,
  direction: z.enum(['in', 'out', 'self']),
  counterparty: nullableString,
  fromUserAccount: nullableString,
  toUserAccount: nullableString,
  fromTokenAccount: nullableString,
  toTokenAccount: nullableString,
  mint: nullableString,
  symbol: nullableString,
  amount: z.string(),
  decimals: integer,
  uiAmount: z.string(),
  feeAmount: nullableString,
  instructionIdx: integer,
  innerInstructionIdx: integer.nullable(),
});
