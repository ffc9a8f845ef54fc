import { readFileSync } from 'node:fs';

/** A request over HTTP and the node's raw answer. */
export interface RecordedAnswer {
  readonly note: string;
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly response: string;
}

/** A message over the WebSocket, sent (`out`) or received (`in`). */
export type RecordedMessage = { readonly out: string } | { readonly in: string };

const folder = new URL('../../../../test/unit/localnet/recorded/', import.meta.url); // from dist/test/unit/localnet
const readRecording = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));

/**
 * A conversation with an Agave 4.2.2 node: 220 requests over HTTP, long lists cut to one or two elements of each kind.
 */
export const RECORDED_ANSWERS = readRecording('answers.json') as readonly RecordedAnswer[];
/** Messages of the same node's pubsub, one or two notifications of each kind. */
export const RECORDED_PUBSUB = readRecording('pubsub.json') as readonly RecordedMessage[];
/** Meanings of its addresses and signatures. */
export const RECORDED_NAMES = readRecording('names.json') as Readonly<Record<string, string>>;
