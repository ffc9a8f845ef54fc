import { z } from 'zod';
import { isAssociatedTokenAccount } from '../chain/program-address.ts';
import { TOKEN_PROGRAMS } from '../chain/token.ts';
import { dependsOnClock, tokenAmount } from '../chain/ui-amount.ts';
import { COMMITMENTS } from '../domain/commitment.ts';
import { RawJson, toJson } from '../domain/json.ts';
import { toSol } from '../domain/sol.ts';
import type { Mesh } from '../upstream/mesh.ts';
import type { At } from '../upstream/stored-accounts.ts';
import { type Parts, readTogether } from '../upstream/together.ts';
import { readAllTokenAccounts, readTokenAccounts } from '../upstream/token-accounts.ts';
import { type Held, heldIn } from './held.ts';
import { type Mints, readMints } from './mints.ts';
import { address, commitment, optionalAddress } from './params.ts';
import { read } from './route.ts';
import { extensions, lamports, tokenAmountShape, type Written, written } from './shapes.ts';
import { mapInSlices } from './slices.ts';

const row = z.strictObject({
  address: z.string(),
  mint: z.string(),
  owner: z.string(),
  programId: z.string(),
  program: z.enum(['spl-token', 'spl-token-2022']),
  state: z.enum(['initialized', 'frozen', 'uninitialized']),
  isNative: z.boolean(),
  isAssociated: z.boolean(),
  tokenAmount: tokenAmountShape,
  delegate: z.string().nullable(),
  delegatedAmount: z.string().nullable(),
  closeAuthority: z.string().nullable(),
  ...lamports,
  extensions,
});

type Row = z.output<typeof row>;

export const tokenAccounts = read({
  path: '/token-accounts/:owner',
  summary: 'The token accounts of an owner under both token programs, by mint and address',
  params: { owner: address, mint: optionalAddress, commitment: commitment('confirmed', COMMITMENTS) },
  result: z.array(written(row)),
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_address', 'result_too_large'],

  async resolve({ owner, mint, commitment }, { mesh }, { minSlot }) {
    const { slot, value, agree } = await readTogether(minSlot, (minContextSlot) => {
      const at = { commitment, minContextSlot };
      return mint === undefined ? readOf(mesh, owner, at) : readOfMint(mesh, owner, mint, at);
    });
    const { held, mints } = value;
    const sorted = held.toSorted((a, b) => compare(a.token.mint, b.token.mint) || compare(a.address, b.address));
    const result = await mapInSlices(sorted, SLICE, (each): Written<Row> => new RawJson(toJson(rowOf(each, mints))));
    const isMoving = held.some(({ token }) => {
      const of = mints.mint(token.mint);
      return of !== undefined && dependsOnClock(of);
    });
    return { slot, result, exact: agree && commitment === 'finalized' && !isMoving };
  },
});

/** So many rows take a few milliseconds, even when none is where associated accounts are. */
const SLICE = 32;

interface Holdings {
  readonly held: readonly Held[];
  readonly mints: Mints;
}

async function readOf(mesh: Mesh, owner: string, at: At): Promise<Parts<Holdings>> {
  const { slots, rows } = await readAllTokenAccounts(mesh, owner, Object.values(TOKEN_PROGRAMS), at);
  const held = await mapInSlices(rows, SLICE, heldIn);
  const mints = await readMints(mesh, [...new Set(held.map(({ token }) => token.mint))], at);
  return { slots: [...slots, ...mints.slots], value: { held, mints } };
}

/** A node refuses to list the accounts of what is no mint; here that is an empty list. */
async function readOfMint(mesh: Mesh, owner: string, mint: string, at: At): Promise<Parts<Holdings>> {
  const mints = await readMints(mesh, [mint], at);
  if (mints.mint(mint) === undefined) return { slots: mints.slots, value: { held: [], mints } };
  const { slot, rows } = await readTokenAccounts(mesh, owner, { mint }, at);
  return { slots: [...mints.slots, slot], value: { held: await mapInSlices(rows, SLICE, heldIn), mints } };
}

function rowOf({ address, lamports, token }: Held, mints: Mints): Row {
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
    tokenAmount: tokenAmount(amount, mints.scale(mint)),
    delegate,
    delegatedAmount: delegate === null ? null : `${delegatedAmount}`,
    closeAuthority,
    lamports,
    sol: toSol(lamports),
    extensions: program === 'spl-token' ? null : extensions,
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
