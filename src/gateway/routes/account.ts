import { z } from 'zod';
import type { Answer } from '../../shared/domain/answer.ts';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { RawJson, toJson } from '../../shared/domain/to-json.ts';
import { concatInTurns } from '../../shared/runtime/concat-in-turns.ts';
import { accountKindOf } from '../../transactions/index.ts';
import { accountBytes } from '../live/accounts/account-json.ts';
import type { PastAccountsRead } from '../live/accounts/past-accounts.ts';
import { canonicalJson, canonicalParts, textOf } from '../upstream/json/raw-json.ts';
import type { AccountRead } from '../upstream/reads/account-batcher.ts';
import { type AccountInfo, parseAccountInfo, parseAccountInfoYielding } from '../upstream/reads/account-info.ts';
import { address, agree as agreeParam, commitment, PAST_ERRORS, pastSlot } from './routing/params.ts';
import { isDemanded } from './routing/request-scope.ts';
import { readRoute, type Uses } from './routing/route.ts';
import { integer, lamports, rawJson, serialized, serializedBytes } from './routing/schemas.ts';

/** The length from which an account is parsed and copied in turns of the event loop: a program may have 14 MB. */
const LONG_ACCOUNT = 16 * 1024;

/** The length from which the answer stays bytes: to make a text of it takes a millisecond. */
const LONG_TEXT = 512 * 1024;

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
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS), agree: agreeParam, slot: pastSlot },
  result,
  envelope: 'signed',
  cache: { slots: 2 },
  commitmentOf: ({ commitment }) => commitment,
  pastSlotOf: ({ slot }) => slot,
  errors: ['invalid_address', 'no_agreement', ...PAST_ERRORS],

  resolve(
    { addr: address, commitment, slot },
    { liveAccounts, pastAccounts }: Uses<'liveAccounts' | 'pastAccounts'>,
    scope,
  ) {
    const { minSlot: minContextSlot, cost, agree } = scope;
    const mustAgree = isDemanded(scope);
    const reading =
      slot === undefined
        ? liveAccounts.read({ address, shape: 'parsed', commitment, minContextSlot, cost, agree, mustAgree })
        : pastAccounts.read([address], { slot, commitment, cost }).then(readOf);
    return reading.then((read) => {
      const { account } = read;
      const isLong = account !== null && account.length > LONG_ACCOUNT;
      return isLong ? longAnswerOf(address, account, read) : answerOf(address, read);
    });
  },

  resolveLive({ addr: address, commitment }, { liveAccounts }: Uses<'liveAccounts'>, minContextSlot) {
    // accounts that are kept live are short
    const read = liveAccounts.readLive({ address, shape: 'parsed', commitment, minContextSlot });
    return read && answerOf(address, read);
  },
});

const readOf = ({ slot, agreement, accounts: [account] }: PastAccountsRead): AccountRead => ({
  slot,
  agreement,
  account: accountBytes(account?.json() ?? null),
});

function answerOf(address: string, { slot, account, lease, agreement }: AccountRead): Answer<Account> {
  if (account === null) return { slot, agreement, lease, result: null };
  const info = parseAccountInfo(account);
  return { slot, agreement, lease, result: { ...headOf(address, info), data: new RawJson(canonicalJson(info.data)) } };
}

async function longAnswerOf(
  address: string,
  account: Buffer,
  { slot, lease, agreement }: AccountRead,
): Promise<Answer<Account>> {
  const info = await parseAccountInfoYielding(account);
  const head = Buffer.from(`${toJson(headOf(address, info)).slice(0, -1)},"data":`);
  const parts = [head, ...(await canonicalParts(info.data)), Buffer.from('}')];
  const whole = await concatInTurns(parts);
  const result = account.length > LONG_TEXT ? serializedBytes<Account>(whole) : serialized<Account>(textOf(whole));
  return { slot, agreement, lease, result };
}

const headOf = (address: string, { lamports, owner, executable, rentEpoch, space, parsed }: AccountInfo) => ({
  address,
  kind: accountKindOf(owner, parsed),
  lamports,
  sol: toSol(lamports),
  owner,
  executable,
  rentEpoch,
  space,
});
