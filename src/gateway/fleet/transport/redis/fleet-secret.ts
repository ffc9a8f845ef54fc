import { createHmac, hkdfSync } from 'node:crypto';
import type { KeyRing } from '../../../receipts/keys/key-ring.ts';

/** Digests something under the secret that the gateways of a fleet share, and Redis never sees. */
export type FleetSecret = (purpose: 'identity' | 'message' | 'key', content: string | Uint8Array) => Buffer;

const SECRET_BYTES = 32;

/** Derives the secret from a text, or bytes, that all gateways of a fleet are given. */
export function fleetSecretOfText(text: string | Buffer): FleetSecret {
  const secret = Buffer.from(hkdfSync('sha256', text, '', 'slotgate fleet 1', SECRET_BYTES));
  return (purpose, content) => createHmac('sha256', secret).update(purpose).update('\0').update(content).digest();
}

/** From the oldest key that is not revoked, which all gateways have: it stays the same when the next key is added. */
export function deriveFleetSecret(ring: KeyRing): FleetSecret {
  const signing = ring.find(({ isRevoked, signing }) => !isRevoked && signing !== null)?.signing;
  if (!signing) throw new Error('there is no receipt key to derive the secret of the fleet from');
  return fleetSecretOfText(signing.secret.export({ format: 'der', type: 'pkcs8' }));
}
