import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { RENT_EXEMPT } from '../geyser/feed-update.ts';
import {
  member,
  type Picked,
  type PickedNested,
  parseSafeInteger,
  parseString,
  parseU64,
  pickNested,
  pickNestedYielding,
  shortText,
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

export const parseAccountLamports = (account: Buffer): bigint => parseU64(member(account, 'lamports'));

/** Parses an account's JSON. Throws `upstream_error` for anything else. */
export const parseAccountInfo = (account: Buffer): AccountInfo => infoOf(pickNested(account, ...NAMES));

/** Parses a long account as {@link parseAccountInfo} does, and yields to the event loop in between. */
export const parseAccountInfoYielding = async (account: Buffer): Promise<AccountInfo> =>
  infoOf(await pickNestedYielding(account, NAMES));

const NAMES = [
  ['lamports', 'owner', 'executable', 'rentEpoch', 'space', 'data'],
  ['program', 'parsed'],
  ['type'],
] as const;

const infoOf = ([account, data, parsed]: PickedNested): AccountInfo => {
  const [lamports, owner, executable, rentEpoch, space, whole = throwNotAnAccount()] = account;
  return {
    lamports: parseU64(lamports),
    owner: parseString(owner),
    executable: shortText(executable) === 'true',
    rentEpoch: parseRentEpoch(rentEpoch).toString(),
    space: parseSafeInteger(space),
    data: whole,
    parsed: data === undefined ? null : kindOf(data, parsed),
  };
};

/** Returns program and type of parsed data. Some parsers name no type: that of recent blockhashes, for example. */
function kindOf([program, parsed]: Picked, [type]: Picked = []): AccountInfo['parsed'] {
  if (parsed === undefined) throwNotAnAccount();
  return { program: parseString(program), type: type === undefined ? '' : parseString(type) };
}

function throwNotAnAccount(): never {
  throw new GatewayError('upstream_error', 'the upstream sent something that is not an account');
}

/** What JavaScript makes of the greatest u64, which is the rent epoch of nearly every account: some proxies of nodes send it. */
const ROUNDED_RENT_EXEMPT = '18446744073709552000';

export const parseRentEpoch = (bytes: Buffer | undefined): bigint =>
  shortText(bytes) === ROUNDED_RENT_EXEMPT ? RENT_EXEMPT : parseU64(bytes);
