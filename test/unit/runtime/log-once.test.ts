import t from 'tap';
import { oncePerErrorSite } from '../../../src/runtime/log-once.ts';

const one = (): Error => new TypeError('one');
const two = (): Error => new TypeError('two');

t.test('an error is reported once per site, however often it occurs', async (t) => {
  const told: string[] = [];
  const tell = oncePerErrorSite<string>((subject) => told.push(subject));
  for (let i = 0; i < 5; i++) {
    tell(`one ${i}`, one());
    tell(`two ${i}`, two());
    tell(`text ${i}`, 'no error at all');
  }
  t.strictSame(told, ['one 0', 'two 0', 'text 0']);
});

t.test('the number of reported sites is limited', async (t) => {
  let told = 0;
  const tell = oncePerErrorSite<number>(() => told++);
  for (let i = 0; i < 1000; i++) {
    const defect = new Error('x');
    defect.name = `kind ${i}`;
    tell(i, defect);
  }
  t.equal(told, 100);
});
