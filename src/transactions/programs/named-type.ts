import type { ProgramRole } from './program-roles.ts';
import type { TransactionType } from './transaction-types.ts';

type Names = readonly (readonly [name: RegExp, type: TransactionType])[];

/** Instructions that programs of any role have. */
const OF_ANY: Names = [[/^(claim|harvest)(?!.*(account|authority|status))/, 'CLAIM']];

/** What instructions are by their names, where a program of a known role is in no table but names its call in the log. */
const BY_ROLE: Readonly<Partial<Record<ProgramRole, Names>>> = {
  lending: [[/liquidat|foreclose/, 'LIQUIDATE'], [/repay/, 'REPAY_LOAN'], [/borrow|takeloan/, 'BORROW'], ...OF_ANY],
  perps: [[/liquidat/, 'LIQUIDATE'], ...OF_ANY],
  bridge: [
    [/fulfil|^fill|^complete|^redeem|^receive|^unlock|^release/, 'BRIDGE_FULFILMENT'],
    [/^deposit|^transfer(native|wrapped|remote)|^init\w*order|^create\w*order|^lock/, 'BRIDGE_DEPOSIT'],
  ],
};

/** Returns the type of a call by what its program calls it, whatever its spelling: `Fulfill`, `create_order`. */
export function namedTypeOf(role: ProgramRole, name: string): TransactionType | null {
  if (role === 'other' || role === 'core') return null;
  const spelling = name.toLowerCase().replaceAll('_', '');
  return (BY_ROLE[role] ?? OF_ANY).find(([names]) => names.test(spelling))?.[1] ?? null;
}
