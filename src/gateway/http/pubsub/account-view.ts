import bs58 from 'bs58';
import { wrapInZstdFrame } from '../../../shared/domain/zstd-frame.ts';
import { OPEN_OBJECT } from '../../upstream/json/json-scanner.ts';
import { elements, members, parseBase64 } from '../../upstream/json/raw-json.ts';

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

/** The members of an account that has been read, of which each view shows the same, and its data. */
export interface ReadAccount {
  readonly head: string;
  readonly tail: string;
  /** The bytes, or the JSON of what a node has parsed. */
  readonly data: { readonly bytes: Buffer } | { readonly parsed: string };
}

/** An account that doesn't exist, as a node notifies of one that was closed. */
const CLOSED: ReadAccount = {
  head: '"lamports":0',
  tail: '"owner":"11111111111111111111111111111111","executable":false,"rentEpoch":0,"space":0',
  data: { bytes: Buffer.alloc(0) },
};

/** Reads the JSON of `/account` or of getAccountInfo. */
export function readAccount(json: string): ReadAccount {
  if (json === 'null') return CLOSED;
  const parts = members(Buffer.from(json));
  const [lamports, owner, executable, space] = ['lamports', 'owner', 'executable', 'space'].map((name) =>
    parts.get(name),
  );
  const rentEpoch = parts.get('rentEpoch')?.toString().replaceAll('"', ''); // text in `/account`
  return {
    head: `"lamports":${lamports}`,
    tail: `"owner":${owner},"executable":${executable},"rentEpoch":${rentEpoch},"space":${space}`,
    data: readData(parts.get('data') ?? Buffer.alloc(0)),
  };
}

function readData(data: Buffer): ReadAccount['data'] {
  if (data[0] !== OPEN_OBJECT) return { bytes: parseBase64(elements(data)[0]) };
  const parts = members(data);
  return {
    parsed: `{"program":${parts.get('program')},"parsed":${parts.get('parsed')},"space":${parts.get('space')}}`,
  };
}

/** Writes an account as a node notifies of it. Returns undefined if the data are parsed and the view wants their bytes. */
export function writeAccount({ head, tail, data }: ReadAccount, view: AccountView): string | undefined {
  if ('bytes' in data) return `{${head},"data":${writeBytes(data.bytes, view)},${tail}}`;
  return view.encoding === 'jsonParsed' ? `{${head},"data":${data.parsed},${tail}}` : undefined;
}

function writeBytes(whole: Buffer, { encoding, slice }: AccountView): string {
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
