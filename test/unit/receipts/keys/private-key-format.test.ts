import { generateKeyPairSync } from 'node:crypto';
import bs58 from 'bs58';
import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { publicBytesOf } from '../../../../src/receipts/signing-key.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

const seed = Buffer.from(testVectors.seed, 'hex');
const pair = Buffer.concat([seed, bs58.decode(testVectors.publicKey)]);
const foreign = Buffer.concat([seed, publicBytesOf(generateKeyPairSync('ed25519').privateKey)]);
const json = (bytes: Uint8Array): string => JSON.stringify([...bytes]);
const pem = (key: { export(options: { format: 'pem'; type: 'pkcs8' }): string | Buffer }): string =>
  key.export({ format: 'pem', type: 'pkcs8' }).toString();

t.test('a key is parsed in each of its formats', async (t) => {
  for (const [form, text] of Object.entries({
    'PKCS#8 PEM': pem(parsePrivateKey(testVectors.seed)),
    'Solana keypair': json(pair),
    'Solana keypair, spaced': ` ${JSON.stringify([...pair], null, 2)}\n`,
    hex: testVectors.seed,
    'upper-case hex with a line end': `${testVectors.seed.toUpperCase()}\r\n`,
    'base58 seed': bs58.encode(seed),
    'base58 pair': bs58.encode(pair),
  }))
    t.equal(bs58.encode(publicBytesOf(parsePrivateKey(text))), testVectors.publicKey, form);
});

t.test('a foreign public half is refused, since signing under it reveals the seed', async (t) => {
  t.throws(() => parsePrivateKey(json(foreign)), /public half/);
  t.throws(() => parsePrivateKey(bs58.encode(foreign)), /public half/);
});

t.test('anything else is refused, and the message never contains it', async (t) => {
  const locked = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' },
  });
  for (const [text, reason] of [
    ['', /expected PKCS#8 PEM/],
    ['hunter2hunter2', /expected PKCS#8 PEM/],
    [testVectors.seed.slice(2), /expected PKCS#8 PEM/],
    [`${testVectors.seed}00`, /expected PKCS#8 PEM/],
    [bs58.encode(seed.subarray(1)), /expected PKCS#8 PEM/],
    [bs58.encode(Buffer.concat([pair, seed])), /expected PKCS#8 PEM/],
    [json(seed), /expected PKCS#8 PEM/],
    [json(pair).replace(/\d+/, '256'), /expected PKCS#8 PEM/],
    [json(pair).replace(/\d+/, '1.5'), /expected PKCS#8 PEM/],
    [json(pair).replace(/\d+/, '"1"'), /expected PKCS#8 PEM/],
    [json(pair).slice(0, -1), /expected PKCS#8 PEM/],
    ['-----BEGIN PRIVATE KEY-----\nhunter2hunter2\n-----END PRIVATE KEY-----', /no private key/],
    [locked.publicKey, /no private key/],
    [locked.privateKey, /passphrase/],
    [pem(generateKeyPairSync('x25519').privateKey), /type x25519, not ed25519/],
    [pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey), /type ec, not ed25519/],
  ] as const) {
    t.throws(() => parsePrivateKey(text), reason);
    try {
      parsePrivateKey(text);
    } catch (thrown) {
      if (text !== '')
        t.notOk(String(thrown).includes(text.slice(0, 12)) && !text.startsWith('-----'), 'no secret in it');
    }
  }
});
