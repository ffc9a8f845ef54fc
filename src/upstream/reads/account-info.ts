import { GatewayError } from '../../domain/gateway-error.ts';
import { canonicalJson, members, parseSafeInteger, parseString, parseU64 } from '../json/raw-json.ts';

/** An account as a node shows it. */
export interface AccountInfo {
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  /** A u64: 18446744073709551615 in nearly every account. */
  readonly rentEpoch: string;
  readonly space: number;
  /** Compact JSON, members by name: `{program, parsed, space}` where a parser fits, else `[base64, "base64"]`. */
  readonly data: string;
  readonly parsed: { readonly program: string; readonly type: string } | null;
}

/** The balance alone, out of an account's JSON. */
export const parseAccountLamports = (account: Buffer): bigint => parseU64(members(account).get('lamports'));

export function parseAccountInfo(account: Buffer): AccountInfo {
  const parts = members(account);
  const data = parts.get('data') ?? throwNotAnAccount();
  return {
    lamports: parseU64(parts.get('lamports')),
    owner: parseString(parts.get('owner')),
    executable: parts.get('executable')?.toString() === 'true',
    rentEpoch: parseU64(parts.get('rentEpoch')).toString(),
    space: parseSafeInteger(parts.get('space')),
    data: canonicalJson(data),
    parsed: data[0] === OPENING_BRACE ? parsedKindOf(data) : null,
  };
}

const OPENING_BRACE = 0x7b;

/** Some parsers name no type: a list of blockhashes, for example. */
function parsedKindOf(data: Buffer): AccountInfo['parsed'] {
  const parts = members(data);
  const parsed = parts.get('parsed') ?? throwNotAnAccount();
  const type = parsed[0] === OPENING_BRACE ? members(parsed).get('type') : undefined;
  return { program: parseString(parts.get('program')), type: type === undefined ? '' : parseString(type) };
}

function throwNotAnAccount(): never {
  throw new GatewayError('upstream_error', 'the upstream answered something that is no account');
}
