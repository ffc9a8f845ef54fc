import { ed25519 } from '@noble/curves/ed25519.js';
import { type Address, getAddressDecoder, getProgramDerivedAddress } from '@solana/web3.js';
import fc from 'fast-check';
import t from 'tap';
import {
  findAssociatedTokenAddress,
  findProgramAddress,
  isAssociatedTokenAccount,
  isOnCurve,
} from '../../../../src/solana/accounts/program-derived-address.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const address = bytes(32).map((key) => getAddressDecoder().decode(key));

t.test('any program and seeds give the address that kit derives', async () => {
  const seed = fc.oneof(fc.uint8Array({ maxLength: 32 }), fc.string({ maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(address, fc.array(seed, { maxLength: 15 }), async (program: Address, seeds) => {
      const [expected] = await getProgramDerivedAddress({ programAddress: program, seeds });
      return findProgramAddress(program, seeds) === expected;
    }),
    { numRuns: 50 },
  );
});

t.test('recorded associated token accounts have the derived address, for both token programs', async (t) => {
  const alice = 'FVj2qVXVVvWLmRzkBwpzXpFrPojW12WeGozD5bdv1nUU';
  t.equal(
    findAssociatedTokenAddress(alice, '3QDsY6egPGk98vW7YXaC8rPSuk37MEn69RT9jyxrR4QJ', 'spl-token'),
    'F4Zp3zj7BAaJX6U4YekiJkLrtVwzkUr7jscyXCRtW28Z',
  );
  t.equal(
    findAssociatedTokenAddress(alice, 'A8XBHigPCgPXfwUY7EK6QRGYQ1QoEo9bXsnjCMHCf83p', 'spl-token-2022'),
    'EGCtKwGBDKWukKTcMSRDyN7bSa6iJmxQ9a8e47wcgqD5',
  );
});

t.test('an associated token account is recognized without deriving its address', async () => {
  const program = fc.constantFrom('spl-token', 'spl-token-2022');
  fc.assert(
    fc.property(address, address, program, (owner, mint, program) => {
      const associated = findAssociatedTokenAddress(owner, mint, program);
      const known = (where: string) => isAssociatedTokenAccount(where, owner, mint, program);
      return known(associated) && !known(owner) && !isAssociatedTokenAccount(associated, mint, owner, program);
    }),
    { numRuns: 200 },
  );
});

t.test('seeds that the runtime refuses are refused', async (t) => {
  t.throws(() => findProgramAddress('11111111111111111111111111111111', [new Uint8Array(33)]), RangeError);
  t.throws(() => findProgramAddress('11111111111111111111111111111111', Array(16).fill('')), RangeError);
});

t.test('points on and off the curve are distinguished, at any length', async (t) => {
  t.ok(isOnCurve(new Uint8Array(32)));
  t.notOk(isOnCurve(new Uint8Array(32).with(0, 2)));
  t.notOk(isOnCurve(new Uint8Array(31)));
  const isPoint = (key: Uint8Array): boolean => {
    try {
      return ed25519.Point.fromBytes(key) !== undefined;
    } catch {
      return false;
    }
  };
  const atTheEnds = [0, 1, 2, 0xec, 0xed, 0xee].flatMap((low) =>
    [0, 0x7f, 0x80, 0xff].map((high) =>
      new Uint8Array(32)
        .fill(high & 0x7f ? 0xff : 0)
        .with(0, low)
        .with(31, high),
    ),
  );
  t.same(atTheEnds.map(isOnCurve), atTheEnds.map(isPoint));
  fc.assert(fc.property(bytes(32), (key) => isOnCurve(key) === isPoint(key)));
});
