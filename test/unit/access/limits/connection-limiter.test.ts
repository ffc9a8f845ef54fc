import t from 'tap';
import { createClientIpResolver } from '../../../../src/access/limits/client-ip.ts';
import { ConnectionLimiter } from '../../../../src/access/limits/connection-limiter.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const [HOME, PROXY] = [Uint8Array.of(203, 0, 113, 9).buffer, Uint8Array.of(10, 0, 0, 1).buffer];

function doorOf(connections: number) {
  const clock = new ManualClock();
  const door = new ConnectionLimiter({
    connections,
    identities: 100,
    clientIp: createClientIpResolver(['10.0.0.0/8']),
    clock,
  });
  const admitted = (address: ArrayBuffer, times: number): number =>
    Array.from({ length: times }, () => door.accepts(address)).filter((admits) => admits).length;
  return { clock, door, admitted };
}

t.test('an address opens a limited number of connections per second', async (t) => {
  const { clock, door, admitted } = doorOf(3);
  t.equal(admitted(HOME, 10), 3);
  t.equal(door.refused, 7);
  clock.advance(999);
  t.equal(admitted(HOME, 1), 0);
  clock.advance(1);
  t.equal(admitted(HOME, 10), 3);
});

t.test('other addresses are not affected', async (t) => {
  const { admitted } = doorOf(3);
  admitted(HOME, 10);
  t.equal(admitted(Uint8Array.of(203, 0, 113, 10).buffer, 1), 1);
});

t.test('a trusted proxy opens any number of connections', async (t) => {
  const { door, admitted } = doorOf(3);
  t.equal(admitted(PROXY, 100), 100);
  t.equal(door.refused, 0);
});
