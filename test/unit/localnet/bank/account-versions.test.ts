import fc from 'fast-check';
import t from 'tap';
import { AccountVersions } from '../../../../src/localnet/bank/account-versions.ts';
import type { Account } from '../../../../src/localnet/bank/svm-account.ts';

const account = (lamports: number): Account | undefined =>
  lamports === 0
    ? undefined
    : { lamports: BigInt(lamports), owner: 'somebody', executable: false, data: new Uint8Array(0) };

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), who: fc.nat(2), lamports: fc.nat(3) }) },
    { weight: 4, arbitrary: fc.constant({ kind: 'slot' as const }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('prune' as const), depth: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollBack' as const), depth: fc.nat(3) }) },
  ),
  { maxLength: 60 },
);

t.test('from the root up, every slot has the state that a full copy would have', (t) => {
  fc.assert(
    fc.property(steps, (script) => {
      const versions = new AccountVersions();
      const copies = new Map<number, number[]>();
      let slot = 0;
      let root = 0;
      const state = [1, 0, 2];
      copies.set(-1, [...state]);
      for (const step of script) {
        if (step.kind === 'write') {
          const address = String(step.who);
          versions.record(address, slot, account(state[step.who] ?? 0), account(step.lamports));
          state[step.who] = step.lamports;
        }
        copies.set(slot, [...state]);
        if (step.kind === 'slot') copies.set(++slot, [...state]);
        if (step.kind === 'prune') {
          root = Math.max(root, slot - step.depth);
          versions.prune(root);
        }
        if (step.kind === 'rollBack') {
          const to = Math.max(root, slot - step.depth);
          const wanted = copies.get(to) ?? [];
          for (const [address, restored] of versions.rollBack(to)) {
            if (restored?.lamports !== account(wanted[Number(address)] ?? 0)?.lamports) return false;
            state[Number(address)] = Number(restored?.lamports ?? 0n);
          }
          if (String(state) !== String(wanted)) return false;
          for (let abandoned = to + 1; abandoned <= slot; abandoned++) copies.set(abandoned, [...wanted]);
          copies.set(++slot, [...wanted]);
        }
        for (let seen = root; seen <= slot; seen++) {
          const copy = copies.get(seen) ?? [];
          for (const who of [0, 1, 2]) {
            const version = versions.at(String(who), seen);
            const lamports = Number((version ? version.account : account(state[who] ?? 0))?.lamports ?? 0n);
            if (lamports !== copy[who]) return false;
          }
        }
      }
      return true;
    }),
    { numRuns: 500 },
  );
  t.end();
});
