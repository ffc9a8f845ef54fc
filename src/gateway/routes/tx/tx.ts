import * as z from 'zod';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RawJson } from '../../../shared/domain/to-json.ts';
import type { ReadOptions } from '../../upstream/reads/encoded-accounts.ts';
import type { IdlReader } from '../../upstream/reads/program-idls.ts';
import { parseTransactionRecord } from '../../upstream/reads/transaction-record.ts';
import { isFinalAt } from '../../upstream/reads/transaction-records.ts';
import {
  agree as agreeParam,
  commitment,
  optionalAddress,
  optionalLiteral,
  type Param,
  signature,
} from '../routing/params.ts';
import { agreeFor, isDemanded, type RequestScope, requesterOf } from '../routing/request-scope.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer, preSerialized, rawJson } from '../routing/schemas.ts';
import { enhancedTransactionSchema } from './enhanced-transaction-schema.ts';

/** The time for which callers may cache the meaning of a transaction: names change, and so do our rules. */
const ENHANCED_SECONDS = 300;

const perspective: Param<string | undefined> = {
  ...optionalAddress,
  description: 'With `enhanced=1`: the address of a party, from whose view the meaning is given, too',
};

export const tx = readRoute({
  path: '/tx/:sig',
  summary: "A transaction as Solana's own parsers show it, with its meaning on request",
  params: {
    sig: signature,
    enhanced: optionalLiteral('1', 'With `1`: adds `enhanced`, the meaning of the transaction'),
    perspective,
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
    agree: agreeParam,
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
  claimNumberOf: ({ enhanced }) => (enhanced === undefined ? 1 : 4),
  errors: ['invalid_signature', 'invalid_address', 'not_found', 'no_agreement'],

  async resolve(
    { sig, enhanced, perspective, commitment },
    context: Uses<'mesh' | 'transactionRecords' | 'operators'> & EnhanceUses,
    scope,
  ) {
    if (perspective !== undefined && enhanced === undefined)
      throw new GatewayError('invalid_query', 'perspective is for enhanced=1');
    const { callsFor, mesh, transactionRecords } = context;
    const { minSlot, cost, agree: demanded } = scope;
    const finalized = mesh.tip('finalized') ?? -1;
    const agree = agreeFor(scope, context, true);
    const onlyIf = isDemanded(scope) || commitment === 'finalized' ? undefined : isFinalAt(finalized);
    const { slot, record, agreement } = await transactionRecords.read(
      callsFor(scope),
      { signature: sig, slot: undefined },
      { commitment, minSlot, agree, demanded, onlyIf },
      cost,
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
        : await enhanceOrNull(context, scope, {
            signature: sig,
            record,
            at: { commitment, minContextSlot: landedAt },
            ...(perspective && { perspective }),
          });
    return {
      slot,
      agreement,
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
      uncached: view?.lacksNames === true,
    };
  },
});

type EnhanceUses = Uses<'callsFor' | 'decoder' | 'tokenLabels' | 'programIdls' | 'onDecodeError'>;

interface RecordToEnhance {
  readonly signature: string;
  readonly record: Buffer;
  /** The state in which names of tokens are looked up: the transaction may have made some of them. */
  readonly at: ReadOptions;
  readonly perspective?: string;
}

/**
 * Makes the enhanced view: once to learn what its description names, and again with the names of that. Null if the record can't
 * be decoded: the answer still has the node's own record. With `lacksNames` the description has addresses where names failed.
 */
async function enhanceOrNull(
  { callsFor, decoder, tokenLabels, programIdls, onDecodeError }: EnhanceUses,
  scope: RequestScope,
  { signature, record, at, ...view }: RecordToEnhance,
) {
  const requester = requesterOf(scope);
  const readIdl: IdlReader = (accounts) => decoder.readIdl(accounts, requester);
  const lookUp = { rpc: callsFor(scope), cost: scope.cost, readIdl };
  try {
    const { json, unlabelledMints, unnamedProgram: program, defects } = await decoder.enhance(record, view, requester);
    for (const defect of defects) onDecodeError(signature, defect);
    const first = new RawJson(json);
    if (unlabelledMints.length === 0 && program === null) return { enhanced: first };
    const [labels, names] = await Promise.all([
      tokenLabels.find(unlabelledMints, lookUp, at).catch(undefinedIfRefused),
      program === null ? undefined : programIdls.find(program, lookUp, at).catch(undefinedIfRefused),
    ]);
    const lacksNames = labels === undefined || (program !== null && names === undefined);
    if ((labels?.size ?? 0) + (names?.size ?? 0) === 0) return { enhanced: first, lacksNames };
    const idlNames = new Map(program === null || names === undefined ? [] : [[program, names]]);
    const { json: named } = await decoder.enhance(record, { ...view, ...(labels && { labels }), idlNames }, requester);
    return { enhanced: new RawJson(named), lacksNames };
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
