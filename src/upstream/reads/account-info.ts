import { GatewayError } from '../../domain/gateway-error.ts';
import { canonicalJson, members, parseSafeInteger, parseString, parseU64 } from '../json/raw-json.ts';

/** Account as a node returns it. */
export interface AccountInfo {
  readonly lamports: bigint;
  readonly owner: string;
  readonly executable: boolean;
  /** Decimal u64: 18446744073709551615 in nearly every account. */
  readonly rentEpoch: string;
  readonly space: number;
  /** Canonical JSON: `{program, parsed, space}` where the node has a parser, else `[base64, "base64"]`. */
  readonly data: string;
  readonly parsed: { readonly program: string; readonly type: string } | null;
}

/** Parses only the balance of an account's JSON. */
export const parseAccountLamports = (account: Buffer): bigint => parseU64(members(account).get('lamports'));

/** Parses an account's JSON. Throws `upstream_error` for anything else. */
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

/** Reads program and type of parsed data. Some parsers name no type: that of recent blockhashes, for example. */
function parsedKindOf(data: Buffer): AccountInfo['parsed'] {
  const parts = members(data);
  const parsed = parts.get('parsed') ?? throwNotAnAccount();
  const type = parsed[0] === OPENING_BRACE ? members(parsed).get('type') : undefined;
  return { program: parseString(parts.get('program')), type: type === undefined ? '' : parseString(type) };
}

function throwNotAnAccount(): never {
  throw new GatewayError('upstream_error', 'the upstream sent something that is not an account');
}
