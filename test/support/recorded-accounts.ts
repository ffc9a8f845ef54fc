import { readFileSync } from 'node:fs';
import type { RawAccount } from '../../src/solana/codec/raw-account.ts';

/** Accounts as clusters stored them, and what other programs read in the same bytes. */
const folder = new URL('../../../test/support/recorded/accounts/', import.meta.url); // from dist/test/support

export interface RecordedAccount extends RawAccount {
  /** Which recording it comes from. */
  readonly recording: string;
  /** Null where the recording does not tell. */
  readonly address: string | null;
}

/** An account whose bytes and whose jsonParsed form a node gave at one slot. */
export interface ParsedAccountRecord extends RecordedAccount {
  /** Compact JSON, members by name. */
  readonly parsed: string;
  /** The cluster's Clock at that slot, where it was recorded. */
  readonly clock: number | null;
}

/** What another library or service made of a recorded account. */
export interface ThirdPartyDecoding {
  readonly parser: string;
  /** The recording that it read. */
  readonly recording: string;
  /** The account's, or for metadata that DAS read the mint's. */
  readonly address: string;
  readonly decoded: Readonly<Record<string, any>>;
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

/** Names, and accounts made for them, with what the name service's own library derives and resolves. */
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

/** The account at this address, or the only one, of a recording. */
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
