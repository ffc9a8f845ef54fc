import { GatewayError } from '../../domain/error.ts';
import { canonicalText, members, safeInteger, text, u64 } from '../json/raw-json.ts';

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
export const accountLamports = (account: Buffer): bigint => u64(members(account).get('lamports'));

export function accountInfo(account: Buffer): AccountInfo {
  const parts = members(account);
  const data = parts.get('data') ?? refuse();
  return {
    lamports: u64(parts.get('lamports')),
    owner: text(parts.get('owner')),
    executable: parts.get('executable')?.toString() === 'true',
    rentEpoch: u64(parts.get('rentEpoch')).toString(),
    space: safeInteger(parts.get('space')),
    data: canonicalText(data),
    parsed: data[0] === OPENING_BRACE ? parsedAs(data) : null,
  };
}

const OPENING_BRACE = 0x7b;

/** Some parsers name no type: a list of blockhashes, for example. */
function parsedAs(data: Buffer): AccountInfo['parsed'] {
  const parts = members(data);
  const parsed = parts.get('parsed') ?? refuse();
  const type = parsed[0] === OPENING_BRACE ? members(parsed).get('type') : undefined;
  return { program: text(parts.get('program')), type: type === undefined ? '' : text(type) };
}

function refuse(): never {
  throw new GatewayError('upstream_error', 'the upstream answered something that is no account');
}
