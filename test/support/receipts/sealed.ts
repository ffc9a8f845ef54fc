import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { signedBody } from '../../../src/receipts/body.ts';
import { digestOf } from '../../../src/receipts/digest.ts';
import { Guard } from '../../../src/receipts/guard.ts';
import { signingKey } from '../../../src/receipts/sign.ts';
import { type Sealable, Signer } from '../../../src/receipts/signer.ts';

export const CLUSTER = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
export const NOW_MS = 1_718_900_000_000;

/** An answer before it is sealed. */
export interface Unsealed extends Omit<Sealable, 'digest'> {
  readonly result: string;
}

/** A signer whose guard grants `exact` from slot 1 to 63. */
export function freshSigner(secret: KeyObject = generateKeyPairSync('ed25519').privateKey): Signer {
  const guard = new Guard(() => {});
  guard.signAlone();
  guard.advance(0);
  return new Signer({ active: signingKey(secret) }, CLUSTER, guard);
}

/** The bodies of some answers, sealed together. */
export function seal(signer: Signer, answers: readonly Unsealed[], nowMs = NOW_MS): string[] {
  const items = answers.map(({ result, ...rest }) => ({ ...rest, digest: digestOf(result) }));
  const receipts = signer.seal(items, nowMs);
  return answers.map(({ result, slot }, i) => signedBody(result, slot, receipts[i] ?? ''));
}
