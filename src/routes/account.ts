import { z } from 'zod';
import type { Answer } from '../domain/answer.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import { ownTurn } from '../domain/own-turn.ts';
import type { Slot } from '../domain/slot.ts';
import { toSol } from '../domain/sol-amount.ts';
import { RawJson } from '../domain/to-json.ts';
import { address, commitment } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer, lamports, rawJson } from '../routing/schemas.ts';
import { accountKindOf } from '../solana/accounts/account-kind.ts';
import type { AccountQuery, AccountRead } from '../upstream/reads/account-batcher.ts';
import { parseAccountInfo } from '../upstream/reads/account-info.ts';

/** The length from which an account is parsed in a turn of its own, and its answer is written in another. */
const LONG_ACCOUNT = 256 * 1024;

const result = z
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
  .nullable();

type Account = z.infer<typeof result>;

export const account = readRoute({
  path: '/account/:addr',
  summary: "An account, its data as Solana's own parsers show it; null if it doesn't exist",
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS) },
  result,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  errors: ['invalid_address'],

  async resolve({ addr, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const read = await liveAccounts.read(queryOf(addr, commitment, minSlot));
    const isLong = read.account !== null && read.account.length > LONG_ACCOUNT;
    if (isLong) await ownTurn();
    const answer = answerOf(addr, read);
    if (isLong) await ownTurn();
    return answer;
  },

  resolveLive({ addr, commitment }, { liveAccounts }: Uses<'liveAccounts'>, { minSlot }) {
    const read = liveAccounts.readLive(queryOf(addr, commitment, minSlot)); // accounts that are kept live are short
    return read && answerOf(addr, read);
  },
});

const queryOf = (address: string, commitment: Commitment, minContextSlot: Slot | undefined): AccountQuery => ({
  address,
  shape: 'parsed',
  commitment,
  minContextSlot,
});

function answerOf(address: string, { slot, account, lease }: AccountRead): Answer<Account> {
  if (account === null) return { slot, lease, result: null };
  const { lamports, owner, executable, rentEpoch, space, data, parsed } = parseAccountInfo(account);
  return {
    slot,
    lease,
    result: {
      address,
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
}
