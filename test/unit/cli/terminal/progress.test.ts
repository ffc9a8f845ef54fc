import t from 'tap';
import { Progress } from '../../../../src/cli/terminal/progress.ts';
import { indentJson, terminalText } from '../../../../src/cli/terminal/terminal-text.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const collect = (isTTY: boolean) => {
  const written: string[] = [];
  return { written, isTTY, columns: 60, write: (text: string) => written.push(text) };
};

t.test('progress is drawn ten times a second at most, in one line, and removed', async (t) => {
  const clock = new ManualClock();
  const output = collect(true);
  const progress = new Progress({ output, clock, what: 'verifying', total: 1000 });
  for (let step = 0; step < 500; step++) {
    await clock.advance(2);
    progress.advance(1, 'a note that is far too long for what is left of the line');
  }
  t.equal(output.written.length, 10);
  t.match(output.written.at(-1), /\[Kverifying {2}4\d % {2}500\/s {2}2 s left {2}a note/);
  for (const line of output.written) t.ok(line.length <= 60 + 4 && !line.includes('\n'));
  progress.end();
  t.equal(output.written.length, 11);
});

t.test('where there is no terminal nothing is drawn', async (t) => {
  const output = collect(false);
  const progress = new Progress({ output, clock: new ManualClock(), what: 'x' });
  progress.advance();
  progress.end();
  t.same(output.written, []);
});

t.test('JSON is indented without a change of its values', async (t) => {
  const json = '{"a":[1,2.50,90071992547409931],"b":{},"c":[],"d":"x\\"{,}\\\\","e":{"f":null}}';
  const indented = indentJson(json);
  t.equal(indented.replace(/^ +|\n/gm, '').replaceAll('": ', '":'), json);
  t.match(indented, '\n    90071992547409931\n');
  t.match(indented, '\n  "b": {},\n');
});

t.test('a terminal gets no escape of somebody else, and the text means the same in JSON', async (t) => {
  const hostile = 'a\u001b[2Jb\u009b1m\u202ec\u0007';
  t.equal(terminalText(hostile), 'a\\u001b[2Jb\\u009b1m\\u202ec\\u0007');
  t.equal(JSON.parse(`"${terminalText('\u202e\u{e0041}')}"`), '\u202e\u{e0041}');
  t.equal(terminalText('one\ntwo'), 'one\ntwo');
});
