import t from 'tap';
import { oncePerErrorSite } from '../../../src/runtime/log-once.ts';

const one = (): Error => new TypeError('one');
const two = (): Error => new TypeError('two');

t.test('an error is reported once per site, however often it occurs', async (t) => {
  const reported: string[] = [];
  const report = oncePerErrorSite<string>((subject) => reported.push(subject));
  for (let i = 0; i < 5; i++) {
    report(`one ${i}`, one());
    report(`two ${i}`, two());
    report(`text ${i}`, 'no error at all');
  }
  t.strictSame(reported, ['one 0', 'two 0', 'text 0']);
});

t.test('the number of reported sites is limited', async (t) => {
  let reported = 0;
  const report = oncePerErrorSite<number>(() => reported++);
  for (let i = 0; i < 1000; i++) {
    const defect = new Error('x');
    defect.name = `kind ${i}`;
    report(i, defect);
  }
  t.equal(reported, 100);
});
