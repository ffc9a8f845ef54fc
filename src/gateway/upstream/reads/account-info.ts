import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import {
  type Members,
  member,
  membersYielding,
  parseSafeInteger,
  parseString,
  parseU64,
  pickMembers,
} from '../json/raw-json.ts';

export interface AccountInfo {
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  /** Decimal u64: 18446744073709551615 in nearly every account. */
  readonly rentEpoch: string;
  readonly space: number;
  /** The node's JSON: `{program, parsed, space}` where the node has a parser, else `[base64, "base64"]`. */
  readonly data: Buffer;
  readonly parsed: { readonly program: string; readonly type: string } | null;
}

/** Parses only the balance of an account's JSON. */
export const parseAccountLamports = (account: Buffer): bigint => parseU64(member(account, 'lamports'));

/** Parses an account's JSON. Throws `upstream_error` for anything else. */
export function parseAccountInfo(account: Buffer): AccountInfo {
  const parts = namedMembers(account, ACCOUNT_MEMBERS);
  const data = dataOf(parts);
  if (data[0] !== OPEN_OBJECT) return infoOf(parts, null);
  const kind = namedMembers(data, DATA_MEMBERS);
  const parsed = parsedOf(kind);
  return infoOf(parts, kindOf(kind, parsed[0] === OPEN_OBJECT ? namedMembers(parsed, PARSED_MEMBERS) : undefined));
}

const ACCOUNT_MEMBERS = ['lamports', 'owner', 'executable', 'rentEpoch', 'space', 'data'] as const;
const DATA_MEMBERS = ['program', 'parsed'] as const;
const PARSED_MEMBERS = ['type'] as const;

/** Returns some members of an object by name. */
function namedMembers(bytes: Buffer, names: readonly string[]): Members {
  const found = new Map<string, Buffer>();
  for (const [i, value] of pickMembers(bytes, names).entries())
    if (value !== undefined) found.set(names[i] ?? '', value);
  return found;
}

/** Parses a long account as {@link parseAccountInfo} does, and yields to the event loop in between. */
export async function parseAccountInfoYielding(account: Buffer): Promise<AccountInfo> {
  const parts = await membersYielding(account);
  const data = dataOf(parts);
  if (data[0] !== OPEN_OBJECT) return infoOf(parts, null);
  const kind = await membersYielding(data);
  const parsed = parsedOf(kind);
  return infoOf(parts, kindOf(kind, parsed[0] === OPEN_OBJECT ? await membersYielding(parsed) : undefined));
}

const dataOf = (account: Members): Buffer => account.get('data') ?? throwNotAnAccount();

const parsedOf = (data: Members): Buffer => data.get('parsed') ?? throwNotAnAccount();

const infoOf = (account: Members, parsed: AccountInfo['parsed']): AccountInfo => ({
  lamports: parseU64(account.get('lamports')),
  owner: parseString(account.get('owner')),
  executable: account.get('executable')?.toString() === 'true',
  rentEpoch: parseU64(account.get('rentEpoch')).toString(),
  space: parseSafeInteger(account.get('space')),
  data: dataOf(account),
  parsed,
});

/** Returns program and type of parsed data. Some parsers name no type: that of recent blockhashes, for example. */
function kindOf(data: Members, parsed: Members | undefined): AccountInfo['parsed'] {
  const type = parsed?.get('type');
  return { program: parseString(data.get('program')), type: type === undefined ? '' : parseString(type) };
}

function throwNotAnAccount(): never {
  throw new GatewayError('upstream_error', 'the upstream sent something that is not an account');
}
