import { createPrivateKey, type KeyObject } from 'node:crypto';
import bs58 from 'bs58';
import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';
import { publicBytesOf } from '../signing-key.ts';

const PKCS8_PREFIX = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);
const SEED_BYTES = 32;
const PAIR_BYTES = 64;

const ACCEPTED_FORMATS =
  'PKCS#8 PEM, a Solana keypair (JSON of 64 numbers), 64 hex digits, or base58 of 32 or 64 bytes';

/** In any of the usual formats. Throws an Error that says what is wrong and never contains a part of the text. */
export function parsePrivateKey(text: string): KeyObject {
  const secret = text.trim();
  if (secret.startsWith('-----BEGIN')) return fromPem(secret);
  if (secret.startsWith('[')) return fromBytes(fromJson(secret));
  if (/^[0-9a-f]{64}$/i.test(secret)) return fromBytes(Buffer.from(secret, 'hex'));
  return fromBytes(bs58.decodeUnsafe(secret));
}

function fromPem(pem: string): KeyObject {
  const key = tryOrUndefined(() => createPrivateKey(pem));
  if (key === undefined) throw new Error('the PEM holds no private key that can be read without a passphrase');
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`a key of type ${key.asymmetricKeyType}, not ed25519`);
  return key;
}

function fromJson(json: string): Uint8Array | undefined {
  const numbers: unknown = tryOrUndefined(() => JSON.parse(json)); // JSON.parse's message would quote the secret
  const isByte = (n: unknown): n is number => Number.isInteger(n) && Number(n) >= 0 && Number(n) <= 255;
  return Array.isArray(numbers) && numbers.length === PAIR_BYTES && numbers.every(isByte)
    ? Uint8Array.from(numbers)
    : undefined;
}

function fromBytes(bytes: Uint8Array | undefined): KeyObject {
  if (bytes?.length !== SEED_BYTES && bytes?.length !== PAIR_BYTES)
    throw new Error(`not a key; expected ${ACCEPTED_FORMATS}`);
  const der = Buffer.concat([PKCS8_PREFIX, bytes.subarray(0, SEED_BYTES)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  // signing under a foreign public half would reveal the seed
  if (bytes.length === PAIR_BYTES && !publicBytesOf(key).equals(bytes.subarray(SEED_BYTES)))
    throw new Error('the public half does not belong to the private one');
  return key;
}
