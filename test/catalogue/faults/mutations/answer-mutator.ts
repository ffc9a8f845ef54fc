import { type Rng, seededRng } from '../../../../src/localnet/traffic/seeded-rng.ts';
import { readTable } from '../../../support/read-table.ts';
import { type JsonSpan, jsonSpans } from './json-spans.ts';

/** Values in place of another one: of another type, out of range, not well-formed. */
const ODD_VALUES = ['', '"a\nb"', ...readTable('catalogue/faults/mutations/odd-values.txt').flat()] as const;

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'lamports',
  'value',
  'context',
  'slot',
  'data',
  'length',
  '',
] as const;

const ERRORS = [
  ...['null', '5', '"no"', '{}', '[]', '{"code":"x"}', '{"code":1e400,"message":5}', '{"code":-32602,"message":null}'],
  ...[-32002, -32004, -32005, -32007, -32009, -32010, -32014, -32015, -32016, -32600, -32601, -32602, -32603, 429].map(
    (code) => `{"code":${code},"message":"no","data":{"contextSlot":"x","numSlotsBehind":-1}}`,
  ),
] as const;

/** A notification with a context: what is before its value, the value, and what is behind. */
const NOTIFIED = /^(\{.*?"params":.*?"value":)(.*)(\},"subscription":\d+\}.*)$/s;
/** All but one in this many notifications stay well-formed. */
const VALUES_IN = 12;

const HUGE_EVERY = 400;
const MAX_LENGTH = 4_000_000;

export interface Mutant {
  readonly bytes: Buffer;
  readonly kind: string;
}

/** Changes the answers of a node. The n-th change depends on the seed, on n and on the answer alone. */
export class AnswerMutator {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Changes the n-th answer. Of a notification mostly the value: the rest is looked at first, and ends the connection. */
  mutate(answer: Buffer, n: number): Mutant {
    const rng = seededRng(Math.imul(this.#seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b));
    const parts = NOTIFIED.exec(answer.toString('latin1'));
    if (parts !== null && rng.intBelow(VALUES_IN) > 0) {
      const [, before = '', value = '', after = ''] = parts;
      const { text, kind } = mutateValue(value, rng);
      return { bytes: Buffer.from(before + text + after, 'latin1'), kind };
    }
    if (rng.intBelow(5) === 0) return mutateBytes(answer, rng);
    const text = answer.toString('latin1');
    const spans = jsonSpans(text);
    const times = rng.pick([1, 1, 1, 2, 3]);
    let mutant = mutateText(text, spans, rng);
    for (let i = 1; i < times; i++) {
      const again = mutateText(mutant.text, jsonSpans(mutant.text), rng);
      mutant = { text: again.text, kind: `${mutant.kind}, ${again.kind}` };
    }
    return { bytes: Buffer.from(mutant.text.slice(0, MAX_LENGTH), 'latin1'), kind: mutant.kind };
  }
}

/** Changes a well-formed value so that it stays well-formed: what handles the message looks into it. */
export function mutateValue(value: string, rng: Rng): TextMutant {
  const spans = jsonSpans(value);
  for (let i = 0; i < 5; i++) {
    const mutant = mutateText(value, spans, rng);
    if (isJson(mutant.text)) return mutant;
  }
  return { text: '[]', kind: 'odd value' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface TextMutant {
  readonly text: string;
  readonly kind: string;
}

function mutateText(text: string, spans: readonly JsonSpan[], rng: Rng): TextMutant {
  const { span, path } = pickSpan(text, spans, rng);
  const value = text.slice(span.start, span.end);
  const replaced = (by: string, how: string): TextMutant => ({
    text: text.slice(0, span.start) + by + text.slice(span.end),
    kind: `${how} ${path}`,
  });
  if (rng.intBelow(HUGE_EVERY) === 0) return replaced(hugeValue(value, rng), 'huge');
  switch (rng.intBelow(10)) {
    case 0:
    case 1:
    case 2:
      return replaced(oddValueFor(value, rng), 'other value of');
    case 3:
      return replaced(rng.pick(ODD_VALUES), 'odd value of');
    case 4: {
      const { start, end } = spans[rng.intBelow(spans.length)] ?? span;
      return replaced(text.slice(start, end), 'value from elsewhere at');
    }
    case 5:
      return replaced(
        rng.pick([`[${value}]`, `{"a":${value}}`, `"${value}"`, `${value}${value}`, `${value},${value}`]),
        'wrapped',
      );
    case 6:
      return { text: withoutSpan(text, span), kind: `missing ${path}` };
    case 7:
      return withMember(text, span, path, rng);
    case 8:
      return withOtherEnvelope(text, rng);
    default:
      return replaced(changedText(value, rng), 'changed');
  }
}

/** Picks a value: half of the time any, else any of one depth, so that the few outer ones have their turn. */
function pickSpan(
  text: string,
  spans: readonly JsonSpan[],
  rng: Rng,
): { readonly span: JsonSpan; readonly path: string } {
  const depth = spans[rng.intBelow(spans.length)]?.depth ?? 0;
  const level = rng.intBelow(depth + 1);
  const candidates = rng.intBelow(2) === 0 ? spans : spans.filter((span) => span.depth === level);
  const span = candidates[rng.intBelow(candidates.length)] ?? {
    start: 0,
    end: text.length,
    depth: 0,
    nameStart: undefined,
  };
  const path =
    span.nameStart === undefined ? `an element of depth ${span.depth}` : text.slice(span.nameStart, span.start);
  return { span, path: path.slice(0, 40) };
}

/** Returns a value that a decoder of this one may mistake for one of its own. */
function oddValueFor(value: string, rng: Rng): string {
  if (/^-?\d/.test(value))
    return rng.pick([
      `-${value}`,
      `"${value}"`,
      `${value}.5`,
      `${value}e3`,
      `${value}0000000000000000`,
      `${value}1`,
      `${BigInt(value.match(/^-?\d+/)?.[0] ?? 0) + 1n}`,
      'null',
      `0${value}`,
    ]);
  if (/^\["[A-Za-z0-9+/=]*","base64/.test(value))
    return `["${changedBase64(value.slice(2, value.indexOf('"', 2)), rng)}","base64"]`;
  if (/^"[A-Za-z0-9+/]{8,}={0,2}"$/.test(value) && rng.intBelow(2) === 0)
    return `"${changedBase64(value.slice(1, -1), rng)}"`;
  if (value.startsWith('"')) return `"${changedText(value.slice(1, -1), rng)}"`;
  if (value.startsWith('['))
    return rng.pick([
      '[]',
      'null',
      '{}',
      `[null,${value.slice(1)}`,
      `[${value},${value}]`,
      value.slice(1, -1),
      `{"0":${value}}`,
    ]);
  if (value.startsWith('{')) return rng.pick(['{}', 'null', '[]', `[${value}]`, `{"a":0,${value.slice(1)}`, '"{}"']);
  return rng.pick(ODD_VALUES);
}

/** Changes the bytes of an account's data: one of them, its length, a length within it, or the coding. */
function changedBase64(text: string, rng: Rng): string {
  const data = Buffer.from(text, 'base64');
  switch (rng.intBelow(6)) {
    case 0:
      return data.subarray(0, rng.intBelow(data.length + 1)).toString('base64');
    case 1:
      return Buffer.concat([data, Buffer.alloc(1 + rng.intBelow(300), rng.intBelow(256))]).toString('base64');
    case 2:
      return `${text.slice(1)}!`;
    case 3:
      return text.slice(0, rng.intBelow(text.length + 1));
    case 4: {
      const at = rng.intBelow(Math.max(1, data.length - 4));
      if (data.length > 4) data.writeUInt32LE(rng.pick([0, 1, 0x7fffffff, 0xffffffff, 0xffff, 1000]), at);
      return data.toString('base64');
    }
    default:
      for (let i = 0; i < 4; i++) data[rng.intBelow(data.length)] = rng.intBelow(256);
      return data.toString('base64');
  }
}

function changedText(text: string, rng: Rng): string {
  const at = rng.intBelow(text.length + 1);
  const inserted = rng.pick([
    '\xff',
    '\xc3',
    '\xed\xa0\x80',
    '\\ud800',
    '\\u0000',
    '0',
    'O',
    '!',
    '-',
    ' ',
    '\\"',
    '\\',
    '\n',
    'é',
  ]);
  switch (rng.intBelow(4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + inserted + text.slice(at);
    case 2:
      return text.slice(0, at) + inserted + text.slice(at + 1);
    default:
      return text.repeat(2);
  }
}

function hugeValue(value: string, rng: Rng): string {
  const deep = rng.pick([100, 1000, 100_000]);
  const many = rng.pick([2000, 20_000]);
  switch (rng.intBelow(6)) {
    case 0:
      return `${'['.repeat(deep)}${']'.repeat(deep)}`;
    case 1:
      return `${'{"a":'.repeat(deep)}0${'}'.repeat(deep)}`;
    case 2:
      return `[${Array(Math.min(many, Math.ceil(1_000_000 / (value.length + 1))))
        .fill(value)
        .join()}]`;
    case 3:
      return '9'.repeat(many * 10);
    case 4:
      return `"${rng.pick(['A', '1', '\\u0000', '\xff', ' '])}`.concat('A'.repeat(many * 10), '"');
    default:
      return `[${Array(many).fill('0').join()}]`;
  }
}

function withoutSpan(text: string, { start, end, nameStart = start }: JsonSpan): string {
  const before = text.slice(0, nameStart);
  const after = text.slice(end);
  return before.endsWith(',') ? before.slice(0, -1) + after : before + after.replace(/^,/, '');
}

function withMember(text: string, { start, end, nameStart }: JsonSpan, path: string, rng: Rng): TextMutant {
  const value = text.slice(start, end);
  if (nameStart === undefined)
    return {
      text: `${text.slice(0, end)},${rng.pick([value, ...ODD_VALUES])}${text.slice(end)}`,
      kind: `more than ${path}`,
    };
  const name = text.slice(nameStart, start);
  if (rng.intBelow(2) === 0)
    return { text: `${text.slice(0, end)},${name}${rng.pick(ODD_VALUES)}${text.slice(end)}`, kind: `twice ${path}` };
  return {
    text: `${text.slice(0, nameStart)}"${rng.pick(NAMES)}":${text.slice(start)}`,
    kind: `another name for ${path}`,
  };
}

function withOtherEnvelope(text: string, rng: Rng): TextMutant {
  const body = text.replace(/^\{/, '');
  const error = rng.pick(ERRORS);
  const mutant = rng.pick([
    text.replace(/"id":\d+/, `"id":${rng.pick(ODD_VALUES)}`),
    text.replace(/"id":\d+/, `"id":${rng.intBelow(1000)}`),
    text.replace('"jsonrpc":"2.0"', `"jsonrpc":${rng.pick(['"1.0"', '2', 'null', '"2.0","jsonrpc":5'])}`),
    text.replace(/"(result|params)":/, `"$1":${rng.pick(ODD_VALUES)},"a":`),
    text.replace(
      /"subscription":\d+/,
      `"subscription":${rng.pick(['0', '-1', 'null', '"5"', '99999999999999999999', '1e3', '{}'])}`,
    ),
    text.replace(/"method":"[^"]*"/, `"method":${rng.pick(['"slotNotification"', '"x"', 'null', '5'])}`),
    `{"error":${error},${body}`,
    `{"jsonrpc":"2.0","error":${error},"id":1}`,
    text.replace(/"result":.*(?=,"id")/s, `"error":${error}`),
    `[${text}]`,
    text + text,
    `\xef\xbb\xbf${text}`,
    ' '.repeat(3) + text,
    text.slice(0, rng.intBelow(text.length)),
    ...ODD_VALUES.slice(0, 20),
  ] as [string, ...string[]]);
  return { text: mutant, kind: 'another envelope' };
}

function mutateBytes(answer: Buffer, rng: Rng): Mutant {
  const at = rng.intBelow(answer.length);
  const length = 1 + rng.intBelow(rng.pick([1, 4, 64]));
  const random = Buffer.from(Array.from({ length }, () => rng.intBelow(256)));
  switch (rng.intBelow(4)) {
    case 0: {
      const bytes = Buffer.from(answer);
      for (let i = 0; i < length; i++) {
        const flipped = rng.intBelow(bytes.length);
        bytes[flipped] = (bytes[flipped] ?? 0) ^ (1 << rng.intBelow(8));
      }
      return { bytes, kind: `${length} flipped bits` };
    }
    case 1:
      return {
        bytes: Buffer.concat([answer.subarray(0, at), answer.subarray(at + length)]),
        kind: `${length} bytes less`,
      };
    case 2:
      return {
        bytes: Buffer.concat([answer.subarray(0, at), random, answer.subarray(at)]),
        kind: `${length} bytes more`,
      };
    default:
      return { bytes: answer.subarray(0, at), kind: 'cut off' };
  }
}
