import { readFileSync } from 'node:fs';

export interface TestVector {
  readonly name: string;
  readonly target: string;
  readonly nonce: string | null;
  readonly cluster: string;
  readonly canonicalRequest: string;
  readonly resultHex: string;
  readonly digest: string;
  readonly statement: string;
  readonly leafHash: string;
  readonly root: string;
  readonly head: string;
  readonly body: string;
}

interface TestVectors {
  readonly seed: string;
  readonly publicKey: string;
  readonly kid: string;
  readonly vectors: readonly [TestVector, TestVector, TestVector, TestVector];
  readonly succession: { readonly text: string; readonly newPublicKey: string; readonly sig: string };
}

/** A body that every verifier refuses. */
export interface HostileVector extends Pick<TestVector, 'name' | 'cluster' | 'canonicalRequest' | 'nonce' | 'body'> {
  /** The code of the first fault. */
  readonly fault: string;
  /** The trusted key, if it isn't that of all vectors. */
  readonly publicKey?: string;
}

const readFile = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../../test/vectors/${name}.json`, import.meta.url), 'utf8')); // from dist/test/support/receipts
const read = (name: string) => readFile(`receipt-${name}`);

/** The published test vectors of version 1, made with the key of RFC 8032 7.1 TEST 1. */
export const testVectors: TestVectors = read('v1');

const version2: { readonly vectors: readonly TestVector[] } = read('v2');

/** The published test vectors of both versions. */
export const allVectors: readonly TestVector[] = [...testVectors.vectors, ...version2.vectors];

/** The same, those together that have one signature. */
export const vectorTrees: readonly (readonly TestVector[])[] = [...new Set(allVectors.map(({ root }) => root))].map(
  (root) => allVectors.filter((vector) => vector.root === root),
);

interface EventChainVectors {
  readonly publicKey: string;
  readonly cluster: string;
  readonly request: string;
  /** The frames of a stream, in its order. */
  readonly frames: readonly string[];
  readonly eventTexts: readonly string[];
  readonly previous: readonly (string | null)[];
  /** Orders of frames that follow each other, and some that don't. */
  readonly accepted: readonly (readonly number[])[];
  readonly refused: Readonly<Record<string, readonly number[]>>;
}

/** A published chain of events. */
export const eventChainVectors: EventChainVectors = readFile('event-chain');

export const hostileVectors: readonly HostileVector[] = read('hostile').vectors;

export const [singleVector, ...batchVectors] = testVectors.vectors;
