import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** One line of a conversation with yellowstone-grpc-geyser 15.1.2 over agave 4.2.2. */
export interface RecordedLine {
  readonly ms: number;
  readonly stream?: string;
  readonly bytes?: string;
  readonly request?: RecordedRequest;
  readonly error?: { readonly code: number; readonly details: string };
  readonly unary?: string;
  readonly response?: { readonly version?: string; readonly first_available?: string };
  readonly rpc?: { readonly method: string; readonly params: readonly unknown[]; readonly result: unknown };
}

export interface RecordedRequest {
  readonly blocks?: Readonly<Record<string, { readonly account_include: readonly string[] }>>;
  readonly from_slot?: string;
}

/** Reads the conversation, in the order of its messages. */
export const readRecordedFeed = (): readonly RecordedLine[] =>
  gunzipSync(readFileSync(new URL('../../../test/support/recorded/geyser.ndjson.gz', import.meta.url)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
