import t from 'tap';
import { Alert } from '../../../src/runtime/alert.ts';

function setUp() {
  const told: string[] = [];
  const alert = new Alert({ onFiring: (reason) => told.push(reason), onResolved: () => told.push('over') });
  const check = (...reasons: (string | undefined)[]): string[] => {
    for (const reason of reasons) alert.check(reason);
    return told.splice(0);
  };
  return { alert, check, told };
}

t.test('a problem is told once, after two checks in a row, and its end after three', async (t) => {
  const { check } = setUp();
  t.same(check(undefined, 'down', undefined, 'down', undefined), [], 'what comes and goes');
  t.same(check('down', 'refused'), ['refused']);
  t.same(check('refused', undefined, undefined, 'down', undefined, undefined), []);
  t.same(check(undefined), ['over']);
  t.same(check(undefined, 'down'), []);
  t.same(check('down'), ['down']);
});

t.test('a certain problem is told at once, and again only when another takes its place', async (t) => {
  const { alert, check, told } = setUp();
  alert.fire('refused');
  alert.fire('refused');
  t.same(told.splice(0), ['refused']);
  alert.escalate('another cluster');
  t.same(told.splice(0), ['another cluster']);
  t.same(check('another cluster', undefined, undefined, undefined), ['over']);
});
