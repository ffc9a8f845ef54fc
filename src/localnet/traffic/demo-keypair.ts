import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type Address, createNoopSigner, type NoopSigner } from '@solana/web3.js';
import bs58 from 'bs58';

/** Signs synchronously when the transaction is complete: the transactions of a slot are made within one turn. */
export interface Keypair extends NoopSigner {
  sign(message: Uint8Array): Uint8Array;
}

/** DER of an Ed25519 private key up to its 32 bytes, in hexadecimal. */
const PKCS8_PREFIX = '302e020100300506032b657004220420';

/** Derives a keypair from a name: the same name gives the same keys. For worthless accounts only. */
export function deriveKeypair(name: string): Keypair {
  const secret = createHash('sha256').update(name).digest();
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from(PKCS8_PREFIX, 'hex'), secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  const address = bs58.encode(publicKey) as Address; // 32 bytes in base58, which is what the brand says
  return { ...createNoopSigner(address), sign: (message) => sign(null, message, privateKey) };
}
