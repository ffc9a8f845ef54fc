import { readFileSync } from 'node:fs';
import type { RawAccount } from '../../src/transactions/codec/raw-account.ts';

/** Accounts as clusters stored them, and results of other programs for the same bytes. */
const folder = new URL('../../../test/support/recorded/accounts/', import.meta.url); // from dist/test/support

export interface RecordedAccount extends RawAccount {
  readonly recording: string;
  /** Address; null if the recording has none. */
  readonly address: string | null;
}

/** An account whose bytes and jsonParsed form a node returned at one slot. */
export interface ParsedAccountRecord extends RecordedAccount {
  /** Compact JSON with sorted members. */
  readonly parsed: string;
  /** Clock of the cluster at that slot, if recorded. */
  readonly clock: number | null;
}

/** What other libraries call the parts of an account; each names some. */
interface Decoding {
  readonly mint: string;
  readonly owner: string;
  readonly amount: string;
  readonly delegate: string | null;
  readonly frozen: boolean;
  readonly close_authority: string | null;
  readonly name: string;
  readonly symbol: string;
  readonly json_uri: string;
  readonly basis_points: number;
  readonly mutable: boolean;
  readonly creators: readonly { readonly address: string }[];
  readonly updateAuthority: string;
  readonly primarySaleHappened: boolean;
  readonly isMutable: boolean;
  readonly tokenStandard: number | null;
  readonly collection: unknown;
  readonly data: {
    readonly name: string;
    readonly symbol: string;
    readonly uri: string;
    readonly sellerFeeBasisPoints: number;
    readonly creators: unknown;
  };
}

/** Result of another library or service for a recorded account. */
export interface ThirdPartyDecoding {
  readonly parser: string;
  /** Recording that the parser read. */
  readonly recording: string;
  /** Address of the account; for metadata read by DAS that of the mint. */
  readonly address: string;
  readonly decoded: Decoding;
}

export interface RecordedAmount {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

interface Encoded {
  readonly owner: string;
  readonly data: string;
}

export const decodeBase64 = ({ owner, data }: Encoded): RawAccount => ({ owner, data: bytesOfBase64(data) });

export const storedAccounts: readonly RecordedAccount[] = readRecordings<RecordedAccount & Encoded>(
  'stored.ndjson',
).map((row) => ({
  ...row,
  data: bytesOfBase64(row.data),
}));

export const parsedAccountRecords: readonly ParsedAccountRecord[] = readRecordings<ParsedAccountRecord & Encoded>(
  'twins.ndjson',
).map((row) => ({
  ...row,
  data: bytesOfBase64(row.data),
}));

export const thirdPartyDecodings: readonly ThirdPartyDecoding[] = readRecordings('independent.ndjson');
export const recordedAmounts: readonly RecordedAmount[] = readLines('amounts.ndjson');

/** Names and accounts made for them, with the results of the name service's own library. */
export interface SolNames {
  readonly derivations: readonly { name: string; accounts: readonly string[]; mint: string }[];
  readonly resolutions: readonly {
    name: string;
    accounts: readonly (Encoded | null)[];
    holder: Encoded | null;
    result: string | null;
  }[];
}

export const solNames: SolNames = JSON.parse(readFile('sol-names.json'));

/** Finds the account at an address, or the only account, of a recording. */
export function findRecordedAccount(recording: string, address?: string): RecordedAccount {
  const found = storedAccounts.find(
    (each) => each.recording === recording && (address ?? each.address) === each.address,
  );
  if (found === undefined) throw new Error(`${recording} has no account ${address}`);
  return found;
}

/** Reads rows that name their recording, which the files call `from`. */
function readRecordings<T>(file: string): T[] {
  return readLines<{ readonly from: string }>(file).map(({ from, ...row }) => ({ recording: from, ...row }) as T);
}

/** Reads one JSON object a line. */
function readLines<T>(file: string): T[] {
  return readFile(file)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function readFile(file: string): string {
  return readFileSync(new URL(file, folder), 'utf8');
}

function bytesOfBase64(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}
