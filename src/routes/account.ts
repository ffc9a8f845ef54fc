import { z } from 'zod';
import { COMMITMENTS } from '../domain/commitment.ts';
import { ownTurn } from '../domain/own-turn.ts';
import { toSol } from '../domain/sol-amount.ts';
import { RawJson } from '../domain/to-json.ts';
import { address, commitment } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer, lamports, rawJson } from '../routing/schemas.ts';
import { accountKindOf } from '../solana/accounts/account-kind.ts';
import { parseAccountInfo } from '../upstream/reads/account-info.ts';

/** The length from which an account is parsed in a turn of its own, and its answer is written in another. */
const LONG_ACCOUNT = 256 * 1024;

export const account = readRoute({
  path: '/account/:addr',
  summary: "An account, its data as Solana's own parsers show it; null if it doesn't exist",
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS) },
  result: z
    .strictObject({
      address: z.string(),
      kind: z.string(),
      ...lamports,
      owner: z.string(),
      executable: z.boolean(),
      rentEpoch: z.string().regex(/^\d+$/),
      space: integer,
      data: rawJson,
    })
    .nullable(),
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_address'],

  async resolve({ addr, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const query = { address: addr, shape: 'parsed', commitment, minContextSlot: minSlot } as const;
    const { slot, account, lease } = await liveAccounts.read(query);
    if (account === null) return { slot, lease: lease, result: null };
    const isLong = account.length > LONG_ACCOUNT;
    if (isLong) await ownTurn();
    const { lamports, owner, executable, rentEpoch, space, data, parsed } = parseAccountInfo(account);
    if (isLong) await ownTurn();
    return {
      slot,
      lease: lease,
      result: {
        address: addr,
        kind: accountKindOf(owner, parsed),
        lamports,
        sol: toSol(lamports),
        owner,
        executable,
        rentEpoch,
        space,
        data: new RawJson(data),
      },
    };
  },
});
