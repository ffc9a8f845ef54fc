import t from 'tap';
import { newEntry } from '../../../src/cache/entry.ts';
import { isWithinOneUnit, unitsOfBytes, unitsOfText, unitsOfUpstream } from '../../../src/domain/units.ts';

const MIB = 1 << 20;

t.test(
  'calls cost one unit for each started ten beyond the first, a scan twenty, bytes and rows one for each MiB or hundred',
  async (t) => {
    const units = ([calls, scans, bytes, rows]: readonly number[]): number =>
      unitsOfUpstream({ calls: calls ?? 0, scans: scans ?? 0, bytes: bytes ?? 0, rows: rows ?? 0 });
    t.same(
      [
        [],
        [1, 0, MIB],
        [2],
        [11],
        [12],
        [805],
        [1, 1],
        [1, 0, MIB + 1],
        [2, 1, 64 * MIB],
        [0, 0, 0, 100],
        [2, 0, 0, 201],
      ].map(units),
      [0, 0, 1, 1, 2, 81, 20, 1, 1 + 20 + 63, 0, 1 + 2],
    );
  },
);

t.test('one unit pays for ten calls, a MiB and a hundred rows, and for no scan', async (t) => {
  const paid = { calls: 10, scans: 0, bytes: MIB, rows: 100 };
  const dearer = [{ calls: 11 }, { scans: 1 }, { bytes: MIB + 1 }, { rows: 101 }];
  t.same(
    [{}, ...dearer].map((more) => isWithinOneUnit({ ...paid, ...more })),
    [true, false, false, false, false],
  );
});

t.test('the first MiB of an answer costs nothing more, whatever its characters', async (t) => {
  t.same([0, 1, MIB, MIB + 1, 3 * MIB].map(unitsOfBytes), [0, 0, 0, 1, 2]);
  t.same(['x'.repeat(MIB), 'x'.repeat(MIB + 1), 'ü'.repeat(MIB / 2 + 1)].map(unitsOfText), [0, 1, 1]);
});

t.test('an entry knows what a hit costs', async (t) => {
  const init = { key: 'k', slot: 1, policy: 'live', tipAtFetch: 1, validatedMs: 0 } as const;
  const meta = { envelope: 'signed', commitment: 'confirmed', exact: false } as const;
  t.equal(newEntry('1', { ...init, meta }).units, 1);
  t.equal(newEntry('x'.repeat(2 * MIB), { ...init, meta: { ...meta, units: 4 } }).units, 5);
});
