import bs58 from 'bs58';
import { wrapInZstdFrame } from '../../../shared/domain/zstd-frame.ts';
import { OPEN_OBJECT } from '../../upstream/json/json-scanner.ts';
import { elements, type Members, members, parseString } from '../../upstream/json/raw-json.ts';

/** The encodings of Solana's pubsub; `binary` is the default: base58 without its name. */
export const ACCOUNT_ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

/** How a subscription wants the data of an account. */
export interface AccountView {
  readonly encoding: (typeof ACCOUNT_ENCODINGS)[number];
  /** The part of the data, in bytes. Default: all. */
  readonly slice: { readonly offset: number; readonly length: number } | undefined;
}

/** The longest data in base58, in bytes (agave, MAX_BASE58_BYTES). */
const MAX_BASE58_BYTES = 128;

/** An account that doesn't exist, as a node notifies of one that was closed. */
const CLOSED: Members = new Map(
  Object.entries({
    lamports: '0',
    data: '["","base64"]',
    owner: '"11111111111111111111111111111111"',
    executable: 'false',
    rentEpoch: '"0"',
    space: '0',
  }).map(([name, json]) => [name, Buffer.from(json)]),
);

/**
 * Writes an account, the JSON of `/account` or of getAccountInfo, as a node notifies of it. Returns undefined if the data
 * are parsed and the view wants their bytes.
 */
export function writeAccount(json: string, view: AccountView): string | undefined {
  const parts = json === 'null' ? CLOSED : members(Buffer.from(json));
  const data = writeData(parts.get('data') ?? Buffer.alloc(0), view);
  if (data === undefined) return undefined;
  const [lamports, owner, executable, space] = ['lamports', 'owner', 'executable', 'space'].map((name) =>
    parts.get(name),
  );
  const rentEpoch = parts.get('rentEpoch')?.toString().replaceAll('"', ''); // text in `/account`
  return `{"lamports":${lamports},"data":${data},"owner":${owner},"executable":${executable},"rentEpoch":${rentEpoch},"space":${space}}`;
}

function writeData(data: Buffer, { encoding, slice }: AccountView): string | undefined {
  if (data[0] === OPEN_OBJECT) {
    if (encoding !== 'jsonParsed') return undefined;
    const parts = members(data);
    return `{"program":${parts.get('program')},"parsed":${parts.get('parsed')},"space":${parts.get('space')}}`;
  }
  const whole = Buffer.from(parseString(elements(data)[0]), 'base64');
  const bytes = slice === undefined ? whole : whole.subarray(slice.offset, slice.offset + slice.length);
  switch (encoding) {
    case 'binary':
      return JSON.stringify(toBase58(bytes));
    case 'base58':
      return JSON.stringify([toBase58(bytes), 'base58']);
    case 'base64+zstd':
      return JSON.stringify([Buffer.from(wrapInZstdFrame(bytes)).toString('base64'), 'base64+zstd']);
    default:
      return JSON.stringify([bytes.toString('base64'), 'base64']);
  }
}

const toBase58 = (bytes: Buffer): string =>
  bytes.length <= MAX_BASE58_BYTES ? bs58.encode(bytes) : 'error: data too large for bs58 encoding';
