import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type Address, createNoopSigner, type NoopSigner } from '@solana/web3.js';
import bs58 from 'bs58';

/**
 * Somebody who signs. It stands for a signer where an instruction is built and signs when the transaction is complete,
 * in the same turn, so that a slot's transactions are made between two events.
 */
export interface Keypair extends NoopSigner {
  sign(message: Uint8Array): Uint8Array;
}

/** DER of an Ed25519 private key up to its 32 bytes, in hexadecimal. */
const PKCS8_PREFIX = '302e020100300506032b657004220420';

/** The keypair that a name stands for: the same name, the same keys. For play money only. */
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
