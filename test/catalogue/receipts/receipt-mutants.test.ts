import t from 'tap';
import { rejectMutants } from './receipt-mutants.ts';

t.test('of 10,000 mutated receipts none is accepted, and every check rejects some', async (t) => {
  const faults = rejectMutants(10_000);
  for (const fault of [
    'envelope',
    'malformed',
    'digest',
    'status',
    'request',
    'unknown-key',
    'path',
    'signature',
  ] as const)
    t.ok((faults.get(fault) ?? 0) > 0, `${fault}: ${faults.get(fault)}`);
});
