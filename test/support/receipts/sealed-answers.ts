import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { digestOf } from '../../../src/receipts/digest.ts';
import { EquivocationGuard } from '../../../src/receipts/equivocation-guard.ts';
import { formatSignedBody } from '../../../src/receipts/signed-body.ts';
import { type SealRequest, Signer } from '../../../src/receipts/signer.ts';
import { signingKeyOf } from '../../../src/receipts/signing-key.ts';

export const CLUSTER = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
export const NOW_MS = 1_718_900_000_000;

/** An answer before it is sealed. */
export interface UnsealedAnswer extends Omit<SealRequest, 'digest'> {
  readonly result: string;
}

/** Creates a signer whose guard grants `exact` from slot 1 to 63. */
export function newSigner(
  secret: KeyObject = generateKeyPairSync('ed25519').privateKey,
  onStepBack?: (leadMs: number) => void,
): Signer {
  const guard = new EquivocationGuard(() => {});
  guard.becomeSoleSigner();
  guard.advance(0);
  return new Signer({ active: signingKeyOf(secret) }, { genesisHash: CLUSTER }, guard, onStepBack);
}

/** Seals answers together and returns their bodies. */
export function sealAnswers(signer: Signer, answers: readonly UnsealedAnswer[], nowMs = NOW_MS): string[] {
  const items = answers.map(({ result, ...rest }) => ({ ...rest, digest: digestOf(result) }));
  const receipts = signer.seal(items, nowMs);
  return answers.map(({ result, slot }, i) => formatSignedBody(result, slot, receipts[i] ?? ''));
}
