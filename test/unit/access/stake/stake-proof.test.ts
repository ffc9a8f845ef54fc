import { ed25519 } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import {
  findStakeProofFault,
  type StakeProof,
  StakeProofVerifier,
  stakeText,
} from '../../../../src/access/stake/stake-proof.ts';
import { isStrongSignature } from '../../../../src/receipts/verify/ed25519-signature.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const HOST = 'gateway.example';
const NOW_S = 1_700_000_000;
const SECRET = new Uint8Array(32).fill(3);
const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));

const sign = (text: string): string => bs58.encode(ed25519.sign(new TextEncoder().encode(text), SECRET));

const proofAt = (issued: number | string, host = HOST): StakeProof => ({
  wallet: WALLET,
  issued: String(issued),
  signature: sign(stakeText(host, WALLET, String(issued))),
});

const fault = (proof: StakeProof): string | undefined =>
  findStakeProofFault(proof, HOST, NOW_S * 1000, isStrongSignature);

t.test('the text to sign is that of the reference', async (t) => {
  t.equal(stakeText('h', 'W', '5'), 'h stake proof v1\nwallet: W\nissued: 5');
});

t.test('a proof is valid from two minutes before it was issued until two minutes after a day', async (t) => {
  const ages: readonly [number, string | undefined][] = [
    [-121, 'it was issued in the future'],
    [-120, undefined],
    [0, undefined],
    [86_520, undefined],
    [86_521, 'it was issued more than a day ago'],
  ];
  for (const [age, expected] of ages) t.equal(fault(proofAt(NOW_S - age)), expected, `${age} s old`);
});

t.test('a proof is for one host, one wallet and one time', async (t) => {
  const proof = proofAt(NOW_S);
  const other = bs58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(4)));
  const unsigned = 'the wallet did not sign this text';
  t.equal(fault(proofAt(NOW_S, 'other.example')), unsigned);
  t.equal(fault({ ...proof, wallet: other }), unsigned);
  t.equal(fault({ ...proof, issued: String(NOW_S - 1) }), unsigned);
});

t.test('anything else is refused, with the reason', async (t) => {
  const proof = proofAt(NOW_S);
  const noTime = 'the time of issue is not in Unix seconds';
  for (const issued of ['', ' 1', '1.5', '0', '-1', '1e9', `0${NOW_S}`, `${NOW_S} `, '9'.repeat(13)])
    t.equal(fault({ ...proof, issued }), noTime, issued);
  for (const wallet of ['', '1', 'O'.repeat(44), `${WALLET}1`, '1'.repeat(10_000)])
    t.equal(fault({ ...proof, wallet }), 'the wallet is not an address');
  for (const signature of ['', WALLET, '0'.repeat(88), '1'.repeat(10_000)])
    t.equal(fault({ ...proof, signature }), 'the signature is not 64 bytes in base58');
  const identity = bs58.encode(Uint8Array.from({ length: 32 }, (_, i) => Number(i === 0)));
  const void64 = bs58.encode(Uint8Array.from({ length: 64 }, (_, i) => Number(i === 0)));
  t.equal(
    fault({ wallet: identity, issued: String(NOW_S), signature: void64 }),
    'the wallet did not sign this text',
    'a weak key, under which any signature is valid, is refused',
  );
});

t.test('no change of a proof passes', async () => {
  const proof = proofAt(NOW_S);
  const member = fc.constantFrom('wallet' as const, 'issued' as const, 'signature' as const);
  fc.assert(
    fc.property(member, fc.nat(), fc.constantFrom(...'123456789ABCabc0OIl \n'), (name, place, character) => {
      const at = place % proof[name].length;
      const changed = proof[name].slice(0, at) + character + proof[name].slice(at + 1);
      return changed === proof[name] || fault({ ...proof, [name]: changed }) !== undefined;
    }),
    { numRuns: 200 },
  );
});

t.test('a proof is verified once, and expires like any other', async (t) => {
  const clock = new ManualClock(NOW_S * 1000);
  let verified = 0;
  const proofs = new StakeProofVerifier(
    HOST,
    () => {
      verified++;
      return true;
    },
    clock,
  );
  const proof = proofAt(NOW_S);
  t.notOk(proofs.isVerified(proof));
  for (let i = 0; i < 5; i++) t.equal(proofs.findFault(proof), undefined);
  t.equal(verified, 1);
  t.ok(proofs.isVerified(proof));
  t.notOk(
    proofs.isVerified({ ...proof, issued: String(NOW_S + 1) }),
    'the same signature is not valid for another time',
  );
  clock.advance(86_521_000);
  t.equal(proofs.findFault(proof), 'it was issued more than a day ago');
});

t.test('only the newest proofs are cached', async (t) => {
  const proofs = new StakeProofVerifier(HOST, () => true, new ManualClock(NOW_S * 1000));
  const numbered = (issued: number): StakeProof => ({ ...first, issued: String(issued) });
  const first = proofAt(NOW_S);
  for (let i = 0; i <= 10_000; i++) proofs.findFault(numbered(NOW_S - i));
  t.notOk(proofs.isVerified(first), 'the oldest is verified again');
  t.ok(proofs.isVerified(numbered(NOW_S - 1)));
});
