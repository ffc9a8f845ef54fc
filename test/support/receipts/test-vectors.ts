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

const file = new URL('../../../../test/support/receipts/test-vectors.json', import.meta.url); // from dist/test/support/receipts

/** The published test vectors of the format, made with the key of RFC 8032 7.1 TEST 1. */
export const testVectors: TestVectors = JSON.parse(readFileSync(file, 'utf8'));

export const [singleVector, ...batchVectors] = testVectors.vectors;
