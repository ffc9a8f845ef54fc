import { createHmac, hkdfSync } from 'node:crypto';
import { oldestSecret, type StoredReceiptKeys } from '../../../receipts/keys/load-keys.ts';

/** Digests something under the secret that the gateways of a fleet share, and Redis never sees. */
export type FleetSecret = (purpose: 'identity' | 'message' | 'key', content: string | Uint8Array) => Buffer;

/** Derives the secret from a text, or bytes, that all gateways of a fleet are given. */
export function fleetSecretOfText(text: string | Buffer): FleetSecret {
  const secret = Buffer.from(hkdfSync('sha256', text, '', 'slotgate fleet 1', 32));
  return (purpose, content) => createHmac('sha256', secret).update(purpose).update('\0').update(content).digest();
}

/** Derives it from the oldest key that is not revoked, which may sign no more. Throws a StartError without its secret. */
export const deriveFleetSecret = (keys: StoredReceiptKeys): FleetSecret =>
  fleetSecretOfText(oldestSecret(keys).export({ format: 'der', type: 'pkcs8' }));
