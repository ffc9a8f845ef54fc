import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { formatSignedBody } from '../../../src/client/verify/signed-body.ts';
import { digestOf } from '../../../src/gateway/receipts/digest.ts';
import { EquivocationGuard } from '../../../src/gateway/receipts/equivocation-guard.ts';
import { type SealRequest, Signer } from '../../../src/gateway/receipts/signer.ts';
import { signingKeyOf } from '../../../src/gateway/receipts/signing-key.ts';

export const CLUSTER = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
export const NOW_MS = 1_718_900_000_000;

export interface UnsealedAnswer extends Omit<SealRequest, 'digest'> {
  readonly result: string;
}

/** Creates a signer whose guard grants `exact` from slot 1 to 63. */
export function newSigner(secret: KeyObject = generateKeyPairSync('ed25519').privateKey): Signer {
  const guard = new EquivocationGuard(() => {});
  guard.becomeSoleSigner(true);
  guard.advance(0);
  return new Signer({ active: signingKeyOf(secret) }, { genesisHash: CLUSTER }, guard);
}

export function sealAnswers(signer: Signer, answers: readonly UnsealedAnswer[], nowMs = NOW_MS): string[] {
  const items = answers.map(({ result, ...rest }) => ({ ...rest, digest: digestOf(result) }));
  const receipts = signer.seal(items, nowMs);
  return answers.map(({ result, slot }, i) => formatSignedBody(result, slot, receipts[i] ?? ''));
}
