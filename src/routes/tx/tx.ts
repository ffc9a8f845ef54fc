import { z } from 'zod';
import { GatewayError } from '../../domain/gateway-error.ts';
import { RawJson } from '../../domain/to-json.ts';
import { commitment, optionalLiteral, signature } from '../../routing/params.ts';
import { readRoute, type Uses } from '../../routing/route.ts';
import { integer, type PreSerialized, preSerialized, rawJson } from '../../routing/schemas.ts';
import type { EnhancedTransaction } from '../../solana/explain/enhanced-transaction.ts';
import type { ReadOptions } from '../../upstream/reads/encoded-accounts.ts';
import { parseTransactionRecord } from '../../upstream/reads/transaction-record.ts';
import { enhancedTransactionSchema } from './enhanced-transaction-schema.ts';

/** The time for which callers may keep the meaning of a transaction: names change, and so does what we make of it. */
const ENHANCED_SECONDS = 300;

export const tx = readRoute({
  path: '/tx/:sig',
  summary: "A transaction as Solana's own parsers show it, with its meaning on request",
  params: {
    sig: signature,
    enhanced: optionalLiteral('1', 'With `1`: adds `enhanced`, the meaning of the transaction'),
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
  },
  result: z.strictObject({
    signature: z.string(),
    confirmationStatus: z.enum(['confirmed', 'finalized']),
    blockTime: integer.nullable(),
    meta: rawJson,
    slot: integer,
    transaction: rawJson,
    transactionIndex: integer.nullable(),
    version: z.union([z.literal('legacy'), integer]).nullable(),
    enhanced: preSerialized(enhancedTransactionSchema).nullable().optional(),
  }),
  envelope: 'signed',
  cache: { slots: 2 },
  finalForOf: ({ enhanced }) => (enhanced === undefined ? 'immutable' : { seconds: ENHANCED_SECONDS }),
  claimNumberOf: ({ enhanced }) => (enhanced === undefined ? 1 : 2),
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_signature', 'not_found'],

  async resolve({ sig, enhanced, commitment }, context: Uses<'transactionRecords'> & EnhanceUses, { minSlot }) {
    const { mesh, transactionRecords } = context;
    const finalized = mesh.tip('finalized') ?? -1;
    const { slot, record } = await transactionRecords.read(
      mesh,
      { signature: sig, slot: undefined },
      { commitment, minSlot },
    );
    if (record === null)
      throw new GatewayError(
        'not_found',
        `no transaction has this signature at ${commitment}: it may be too new, or older than what the upstreams keep`,
      );
    const parsed = await parseTransactionRecord(record);
    const { blockTime, meta, slot: landedAt, transaction, transactionIndex, version } = parsed;
    const final = commitment === 'finalized' || landedAt <= finalized;
    const view =
      enhanced === undefined
        ? undefined
        : await enhanceOrNull(context, { signature: sig, record, at: { commitment, minContextSlot: landedAt } });
    return {
      slot,
      result: {
        signature: sig,
        confirmationStatus: final ? ('finalized' as const) : ('confirmed' as const),
        blockTime,
        meta: new RawJson(meta),
        slot: landedAt,
        transaction: new RawJson(transaction),
        transactionIndex,
        version,
        ...(view && { enhanced: view.enhanced }),
      },
      final,
      uncached: view?.isIncomplete === true,
    };
  },
});

/** What makes the enhanced view. */
type EnhanceUses = Uses<'mesh' | 'decoder' | 'tokenLabels' | 'countRows' | 'onDecodeError'>;

interface RecordToEnhance {
  readonly signature: string;
  readonly record: Buffer;
  /** The state in which names of tokens are looked up: the transaction may have made some of them. */
  readonly at: ReadOptions;
}

interface EnhancedView {
  /** Null if the record can't be decoded: the answer still has the node's own record. */
  readonly enhanced: PreSerialized<EnhancedTransaction> | null;
  /** True when names of tokens could not be looked up: the description then has their addresses. */
  readonly isIncomplete?: boolean;
}

/** Makes the enhanced view: once to learn which tokens its description names, and again with their names. */
async function enhanceOrNull(context: EnhanceUses, { signature, record, at }: RecordToEnhance): Promise<EnhancedView> {
  const { decoder, tokenLabels, onDecodeError } = context;
  try {
    const { json, unlabelledMints, defects } = await decoder.enhance(record);
    for (const defect of defects) onDecodeError(signature, defect);
    const first = new RawJson(json);
    if (unlabelledMints.length === 0) return { enhanced: first };
    const labels = await tokenLabels.find(unlabelledMints, context, at).catch(undefinedIfRefused);
    if (labels === undefined) return { enhanced: first, isIncomplete: true };
    return { enhanced: labels.size === 0 ? first : new RawJson((await decoder.enhance(record, labels)).json) };
  } catch (defect) {
    if (defect instanceof GatewayError) throw defect;
    onDecodeError(signature, defect);
    return { enhanced: null };
  }
}

function undefinedIfRefused(thrown: unknown): undefined {
  if (thrown instanceof GatewayError) return undefined;
  throw thrown;
}
