import * as z from 'zod';
import type { Answer } from '../../shared/domain/answer.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import { concatInTurns } from '../../shared/runtime/concat-in-turns.ts';
import { accountKindOf } from '../../transactions/index.ts';
import { canonicalJson, canonicalParts, textOf } from '../upstream/json/raw-json.ts';
import type { AccountRead } from '../upstream/reads/account-batcher.ts';
import { type AccountInfo, parseAccountInfo, parseAccountInfoYielding } from '../upstream/reads/account-info.ts';
import { accountRoute } from './routing/account-route.ts';
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

export const account = accountRoute({
  path: '/account/:addr',
  summary: "An account, its data as Solana's own parsers show it; null if it doesn't exist",
  result,
  envelope: 'signed',
  shape: 'parsed',
  answerOf,
  longAnswerOf: (read, address) =>
    read.account !== null && read.account.length > LONG_ACCOUNT ? longAnswerOf(read, read.account, address) : undefined,
});

function answerOf({ slot, account, lease, agreement }: AccountRead, address: string): Answer<Account> {
  if (account === null) return { slot, agreement, lease, result: null };
  const info = parseAccountInfo(account);
  const result = serialized<Account>(`${headOf(address, info)}${canonicalJson(info.data)}}`);
  return { slot, agreement, lease, result };
}

async function longAnswerOf(
  { slot, lease, agreement }: AccountRead,
  account: Buffer,
  address: string,
): Promise<Answer<Account>> {
  const info = await parseAccountInfoYielding(account);
  const parts = [Buffer.from(headOf(address, info)), ...(await canonicalParts(info.data)), Buffer.from('}')];
  const whole = await concatInTurns(parts);
  const result = account.length > LONG_TEXT ? serializedBytes<Account>(whole) : serialized<Account>(textOf(whole));
  return { slot, agreement, lease, result };
}

/** Returns the JSON of an account up to its data. The owner alone is a text of the node; the others need no escapes. */
function headOf(address: string, { lamports, owner, executable, rentEpoch, space, parsed }: AccountInfo): string {
  const balance = `"lamports":${lamports},"sol":"${toSol(lamports)}","owner":${toJson(owner)}`;
  const rest = `"executable":${executable},"rentEpoch":"${rentEpoch}","space":${space},"data":`;
  return `{"address":"${address}","kind":"${accountKindOf(owner, parsed)}",${balance},${rest}`;
}
