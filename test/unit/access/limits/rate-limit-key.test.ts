import t from 'tap';
import { addressKeyOf, callerNameOf } from '../../../../src/access/limits/rate-limit-key.ts';

const nameOf = (...bytes: readonly number[]): string => callerNameOf(addressKeyOf(Uint8Array.from(bytes).buffer));
const ipv6 = (...start: readonly number[]): readonly number[] => [...start, ...Array(16 - start.length).fill(0)];

t.test('all of a /48 has one name, and every other caller another', async (t) => {
  const site = [0x20, 1, 0xd, 0xb8, 0, 7];
  t.equal(nameOf(...ipv6(...site)), nameOf(...ipv6(...site, 0xff, 0xff, 1, 2)));
  const others = [
    nameOf(...ipv6(...site)),
    nameOf(...ipv6(0x20, 1, 0xd, 0xb8, 0, 8)),
    nameOf(10, 0, 0, 1),
    nameOf(10, 0, 0, 2),
  ];
  t.equal(new Set([...others, callerNameOf('key a'), callerNameOf('wallet b')]).size, 6);
});
