import * as z from 'zod';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { provenWithoutClock } from '../../shared/domain/root-lead.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { isAssociatedTokenAccount, TOKEN_PROGRAMS, toTokenAmount } from '../../transactions/index.ts';
import type { ListedTokenAccount } from '../tokens/listed-token-account.ts';
import { scaleOf, type TokenList } from '../tokens/token-list.ts';
import { address, agree as agreeParam, commitment, optionalAddress, PAST_ERRORS, pastSlot } from './routing/params.ts';
import { agreeFor, isDemanded } from './routing/request-scope.ts';
import { readRoute, type Uses } from './routing/route.ts';
import { extensions, lamports, preSerialized, serializeList, tokenAmountSchema } from './routing/schemas.ts';

const rowSchema = z.strictObject({
  address: z.string(),
  mint: z.string(),
  owner: z.string(),
  programId: z.string(),
  program: z.enum(['spl-token', 'spl-token-2022']),
  state: z.enum(['initialized', 'frozen', 'uninitialized']),
  isNative: z.boolean(),
  isAssociated: z.boolean(),
  tokenAmount: tokenAmountSchema,
  delegate: z.string().nullable(),
  delegatedAmount: z.string().nullable(),
  closeAuthority: z.string().nullable(),
  ...lamports,
  extensions,
});

type Row = z.output<typeof rowSchema>;

/** The most units of a miss: the rows of the longest list and its mints, the calls for those, its bytes, and those of the answer. */
const MOST_UNITS = 230;

export const tokenAccounts = readRoute({
  path: '/token-accounts/:owner',
  summary: 'The token accounts of an owner under both token programs, by mint and address',
  params: {
    owner: address,
    mint: optionalAddress,
    commitment: commitment('confirmed', COMMITMENTS),
    agree: agreeParam,
    slot: pastSlot,
  },
  result: preSerialized(z.array(rowSchema)),
  mostUnitsOf: () => MOST_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  pastSlotOf: ({ slot }) => slot,
  errors: ['invalid_address', 'result_too_large', 'no_agreement', ...PAST_ERRORS],

  async resolve(
    { owner, mint, commitment, slot: named },
    context: Uses<'tokenLists' | 'operators' | 'pastTokenLists'>,
    scope,
  ) {
    const { minSlot, cost } = scope;
    const agree = agreeFor(scope, context, commitment === 'finalized');
    const mustAgree = isDemanded(scope);
    const query = { owner, mint, commitment, minContextSlot: minSlot, cost, agree, mustAgree };
    const read =
      named === undefined
        ? await context.tokenLists.read(query)
        : await context.pastTokenLists.read(query, { slot: named, commitment, cost });
    const { slot, sinceSlot = slot, list, isConsistent, lease, agreement } = read;
    const result = await serializeList(list.accounts, ROWS_PER_CHUNK, (each) => toRow(each, list));
    // no Clock shows how new a node's listing was, in which an account may be missing that was closed since
    const provenFrom = provenWithoutClock(sinceSlot);
    const exact = isConsistent && commitment === 'finalized' && !list.dependsOnClock;
    return { slot, provenFrom, agreement, lease, result, exact };
  },
});

/** Rows per turn of the event loop: a few milliseconds of work, even if none is an associated account. */
const ROWS_PER_CHUNK = 32;

function toRow({ address, lamports, token }: ListedTokenAccount, list: TokenList): Row {
  const { mint, owner, program, state, amount, delegate, delegatedAmount, closeAuthority, extensions } = token;
  return {
    address,
    mint,
    owner,
    programId: TOKEN_PROGRAMS[program],
    program,
    state,
    isNative: token.rentExemptReserve !== null,
    isAssociated: isAssociatedTokenAccount(address, owner, mint, program),
    tokenAmount: toTokenAmount(amount, scaleOf(list, mint)),
    delegate,
    delegatedAmount: delegate === null ? null : `${delegatedAmount}`,
    closeAuthority,
    lamports,
    sol: toSol(lamports),
    extensions: program === 'spl-token' ? null : extensions,
  };
}
