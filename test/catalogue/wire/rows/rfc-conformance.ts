import { exchange } from '../../../support/raw-http.ts';
import { expectNone, type Finding, info } from '../../findings.ts';
import { CONNECTION_CASES } from '../http/connection-cases.ts';
import { FIELD_CASES } from '../http/field-cases.ts';
import { FRAMING_CASES } from '../http/framing-cases.ts';
import type { HttpCase } from '../http/http-case.ts';
import { REQUEST_LINE_CASES } from '../http/request-line-cases.ts';
import { SEMANTICS_CASES } from '../http/semantics-cases.ts';
import type { WireRow } from '../wire-row.ts';

/** Cases of RFC 9110 and 9112 that raw bytes can check. */
const RFC_SUITE: readonly HttpCase[] = [
  ...REQUEST_LINE_CASES,
  ...FIELD_CASES,
  ...FRAMING_CASES,
  ...CONNECTION_CASES,
  ...SEMANTICS_CASES,
];

/** Cases left to the parser of any engine, or to the error table. The row also fails if one of them begins to hold. */
const OF_EACH_ENGINE = [
  '9112 3.2: an asterisk with OPTIONS',
  '9110 9.1: a method that nobody knows',
  '9112 6.1: a coding that nobody knows, by 501',
];
const OF_UWEBSOCKETS = [
  ...OF_EACH_ENGINE,
  '9112 3: an empty line before it',
  '9112 3.2: a target that is a whole URL',
  '9112 5: a line without a name',
  '9112 5.2: a value that goes on in the next line',
  '9112 7.1: an extension',
  '9112 7.1: a trailer',
  '9112 7.1: more in a chunk than its size',
  '9112 7.1: LF alone behind a size',
];
const OF_NODE = [
  ...OF_EACH_ENGINE,
  '9112 3: two blanks',
  '9112 3: no version',
  '9112 2.3: version 2.0',
  '9112 6.1: chunks in HTTP/1.0',
];

export const rfcConformance: WireRow = {
  id: 'rfc-conformance',
  title: `RFC 9110 and 9112 in ${RFC_SUITE.length} raw messages`,
  async run({ url, get }) {
    await get('/epoch');
    const { engine } = (await get('/health')).json.result;
    const known = engine.name === 'node' ? OF_NODE : OF_UWEBSOCKETS;
    const held = await Promise.all(
      RFC_SUITE.map(async ({ packets, responses, holds }) => holds(await exchange(url, packets, { responses }))),
    );
    const failed = RFC_SUITE.filter((_, i) => !held[i]);
    const names = failed.map(({ rule, title }) => `${rule}: ${title}`);
    return [
      ...(['MUST', 'SHOULD', 'MAY'] as const).map((level) => levelFinding(level, failed)),
      listFinding(
        'fail and are not known to',
        names.filter((name) => !known.includes(name)),
      ),
      listFinding(
        'are known to fail and hold',
        known.filter((name) => !names.includes(name)),
      ),
    ];
  },
};

function levelFinding(level: HttpCase['level'], failed: readonly HttpCase[]): Finding {
  const of = (cases: readonly HttpCase[]): number => cases.filter((one) => one.level === level).length;
  return info(level, `${of(RFC_SUITE) - of(failed)}/${of(RFC_SUITE)}`);
}

function listFinding(what: string, names: readonly string[]): Finding {
  for (const name of names) console.error(`   ${what}: ${name}`);
  return expectNone(what, names.length);
}
