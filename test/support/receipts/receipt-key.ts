import { generateKeyPairSync } from 'node:crypto';

/** Creates a receipt key, as a gateway reads it from its settings: PKCS #8 in PEM. */
export const createReceiptKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
