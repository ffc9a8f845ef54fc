import { type Finding, none, shown } from '../../row.ts';
import type { Case } from '../http/case.ts';
import { failures, nameOf, SUITE } from '../http/suite.ts';
import type { Row } from '../row.ts';

/** What is left to the engine's parser, or to the table of errors. The row fails too when one of them begins to hold. */
const RESIDUE: readonly string[] = [
  '9112 3: an empty line before it',
  '9112 3.2: a target that is a whole URL',
  '9112 3.2: an asterisk with OPTIONS',
  '9110 9.1: a method that nobody knows',
  '9112 5: a line without a name',
  '9112 5.2: a value that goes on in the next line',
  '9112 6.1: a coding that nobody knows, by 501',
  '9112 7.1: an extension',
  '9112 7.1: a trailer',
  '9112 7.1: more in a chunk than its size',
  '9112 7.1: LF alone behind a size',
];

export const rfc: Row = {
  id: '1',
  what: `RFC 9110 and 9112 in ${SUITE.length} raw messages`,
  async run({ url, get }) {
    await get('/epoch');
    const failed = await failures(url);
    const names = failed.map(nameOf);
    return [
      ...(['MUST', 'SHOULD', 'MAY'] as const).map((level) => share(level, failed)),
      named(
        'fail and are not known to',
        names.filter((name) => !RESIDUE.includes(name)),
      ),
      named(
        'are known to fail and hold',
        RESIDUE.filter((name) => !names.includes(name)),
      ),
    ];
  },
};

function share(level: Case['level'], failed: readonly Case[]): Finding {
  const of = (cases: readonly Case[]): number => cases.filter((one) => one.level === level).length;
  return shown(level, `${of(SUITE) - of(failed)}/${of(SUITE)}`);
}

function named(what: string, names: readonly string[]): Finding {
  for (const name of names) console.error(`   ${what}: ${name}`);
  return none(what, names.length);
}
