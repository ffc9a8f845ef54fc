import { readFileSync } from 'node:fs';
import type { RawAccount } from '../../src/solana/codec/raw-account.ts';

/** Accounts as clusters stored them, and what other programs read in the same bytes. */
const folder = new URL('../../../test/support/recorded/accounts/', import.meta.url); // from dist/test/support

export interface Recorded extends RawAccount {
  /** Which recording it comes from. */
  readonly from: string;
  /** Null where the recording does not tell. */
  readonly address: string | null;
}

/** An account whose bytes and whose jsonParsed form a node gave at one slot. */
export interface Twin extends Recorded {
  /** Compact JSON, members by name. */
  readonly parsed: string;
  /** The cluster's Clock at that slot, where it was recorded. */
  readonly clock: number | null;
}

/** What another library or service made of a recorded account. */
export interface Independent {
  readonly parser: string;
  /** The recording that it read. */
  readonly from: string;
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

export const decodeBase64 = ({ owner, data }: Encoded): RawAccount => ({ owner, data: bytes(data) });

export const storedAccounts: readonly Recorded[] = rows<Recorded & Encoded>('stored.ndjson').map((row) => ({
  ...row,
  data: bytes(row.data),
}));

export const twins: readonly Twin[] = rows<Twin & Encoded>('twins.ndjson').map((row) => ({
  ...row,
  data: bytes(row.data),
}));

export const independentResults: readonly Independent[] = rows('independent.ndjson');
export const recordedAmounts: readonly RecordedAmount[] = rows('amounts.ndjson');

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

export const solNames: SolNames = JSON.parse(text('sol-names.json'));

/** The account at this address, or the only one, of a recording. */
export function recordedIn(from: string, address?: string): Recorded {
  const found = storedAccounts.find((each) => each.from === from && (address ?? each.address) === each.address);
  if (found === undefined) throw new Error(`${from} has no account ${address}`);
  return found;
}

function rows<T>(file: string): T[] {
  return text(file)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function text(file: string): string {
  return readFileSync(new URL(file, folder), 'utf8');
}

function bytes(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}
