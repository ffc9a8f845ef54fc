import { createHmac, hkdfSync } from 'node:crypto';
import type { KeyRing } from '../../../receipts/keys/key-ring.ts';

/** The secret that the gateways of a fleet share, and Redis never sees. */
export class FleetSecret {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  digest(purpose: 'identity' | 'message' | 'key', content: string | Uint8Array): Buffer {
    return createHmac('sha256', this.#secret).update(purpose).update('\0').update(content).digest();
  }
}

const SECRET_BYTES = 32;

/** Derives the secret from a text, or bytes, that all gateways of a fleet are given. */
export const fleetSecretOfText = (text: string | Buffer): FleetSecret =>
  new FleetSecret(Buffer.from(hkdfSync('sha256', text, '', 'slotgate fleet 1', SECRET_BYTES)));

/** From the oldest key that is not revoked, which all gateways have: it stays the same when the next key is added. */
export function deriveFleetSecret(ring: KeyRing): FleetSecret {
  const signing = ring.find(({ isRevoked, signing }) => !isRevoked && signing !== null)?.signing;
  if (!signing) throw new Error('there is no receipt key to derive the secret of the fleet from');
  return fleetSecretOfText(signing.secret.export({ format: 'der', type: 'pkcs8' }));
}
