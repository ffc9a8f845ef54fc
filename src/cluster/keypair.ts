import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { Address } from '@solana/web3.js';
import bs58 from 'bs58';

/** Somebody who signs. Signing is synchronous: a slot's transactions are made within one turn. */
export interface Keypair {
  readonly address: Address;
  sign(message: Uint8Array): Uint8Array;
}

/** DER of an Ed25519 private key up to its 32 bytes. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The keypair that a name stands for: the same name, the same keys. For play money only. */
export function keypair(name: string): Keypair {
  const secret = createHash('sha256').update(name).digest();
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    address: bs58.encode(publicKey) as Address, // 32 bytes in base58, which is what the brand says
    sign: (message) => sign(null, message, privateKey),
  };
}
