import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { YIELD_EVERY_BYTES } from '../../../../src/upstream/json/cooperative.ts';
import {
  canonicalJson,
  canonicalParts,
  elements,
  elementsYielding,
  member,
  members,
  membersYielding,
  nestedMembersYielding,
  parseSafeInteger,
  parseString,
  pickMembers,
} from '../../../../src/upstream/json/raw-json.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const broken = { code: 'upstream_error' };

/** JSON objects with names that need escapes. */
const value = fc.jsonValue({ maxDepth: 5 });
const object = fc.dictionary(fc.oneof(fc.string({ unit: anyCharacter }), fc.stringMatching(/^[a-z]{1,4}$/)), value);
const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
/** Spellings of one JSON value: with white space, and with escapes in names where none are needed. */
const spelling = (json: unknown, mayEscape: boolean) =>
  fc.tuple(space, fc.constantFrom(undefined, 1, '\t'), fc.boolean()).map(([around, indent, escaped]) => {
    const plain = JSON.stringify(json, null, indent);
    const spelled = escaped && mayEscape ? plain.replace(/"[a-z]+":/g, escapeLetters) : plain;
    return `${around}${spelled}${around}`;
  });
const escapeLetters = (name: string) =>
  name.replace(/[a-z]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const document = object.chain((json) => spelling(json, true));
/** Documents of printable text without escapes: inside strings the scanner looks for nothing else. */
const plainDocument = fc
  .dictionary(fc.stringMatching(/^[a-z]{0,5}$/), fc.jsonValue({ stringUnit: fc.constantFrom(...'abc{}[],:-+.eE019 ') }))
  .map((json) => JSON.stringify(json));

const parses = (json: string): boolean => {
  try {
    return typeof JSON.parse(json) === 'object' && json.trim().startsWith('{');
  } catch {
    return false;
  }
};
const slices = (bytes: Buffer): boolean => {
  try {
    members(bytes);
    return true;
  } catch {
    return false;
  }
};

t.test('a member has the value that JSON.parse gives it', async () => {
  fc.assert(
    fc.property(document, (json) => {
      const values = [...members(Buffer.from(json))].map(([name, bytes]) => [name, JSON.parse(`${bytes}`)] as const);
      assert.deepEqual(new Map(values), new Map(Object.entries(JSON.parse(json))));
    }),
  );
});

t.test('a truncated document is rejected, wherever it ends', async () => {
  fc.assert(
    fc.property(document, (json) => {
      const bytes = Buffer.from(json.trimEnd());
      const step = Math.ceil(bytes.length / 500); // each end is a scan: all of a long document take its length squared
      const ends = Array.from(bytes.keys()).filter((end) => end % step === 0 || end >= bytes.length - 100);
      return ends.every((end) => !slices(bytes.subarray(0, end)));
    }),
  );
});

t.test('a document with a changed character is accepted if and only if JSON.parse accepts it', async () => {
  const change = fc.tuple(plainDocument, fc.nat(), fc.constantFrom(...'{}[],:"-+.eE0195tfn x', ''), fc.boolean());
  fc.assert(
    fc.property(change, ([json, position, character, insert]) => {
      const at = position % (json.length + 1);
      const changed = json.slice(0, at) + character + json.slice(insert ? at : at + 1);
      return slices(Buffer.from(changed)) === parses(changed);
    }),
    { numRuns: 3000 },
  );
});

t.test('digits stay as they are', async (t) => {
  for (const digits of ['9007199254740993', '18446744073709551615', '-0', '1e400', '0.10', '1E+2']) {
    t.equal(member(Buffer.from(`{"a":{"b":1},"x":${digits}}`), 'x')?.toString(), digits);
  }
});

t.test('of repeated members the last counts, however its name is spelled', async (t) => {
  t.equal(member(Buffer.from(String.raw`{"slot":1,"sl\u006ft":2}`), 'slot')?.toString(), '2');
  t.equal(canonicalJson(Buffer.from(String.raw`{"slot":1,"a":0,"sl\u006ft":2}`)), String.raw`{"a":0,"sl\u006ft":2}`);
});

t.test('members that are picked by name are those that are found, and the same JSON is refused', async (t) => {
  const names = fc.array(fc.stringMatching(/^[a-z]{0,4}$/), { maxLength: 4 });
  let picked = 0;
  fc.assert(
    fc.property(document, names, fc.nat(), (json, wanted, cut) => {
      const bytes = Buffer.from(json);
      const all = members(bytes);
      const asked = [...wanted, ...[...all.keys()].filter((name) => /^[\x20-\x7e]*$/.test(name))];
      const found = pickMembers(bytes, asked);
      assert.deepEqual(
        found.map(String),
        asked.map((name) => String(all.get(name))),
      );
      picked += found.filter((value) => value !== undefined).length;
      const part = bytes.subarray(0, cut % (bytes.length + 1));
      if (!slices(part)) assert.throws(() => pickMembers(part, asked), broken);
    }),
  );
  t.ok(picked > 20, `${picked} members`);
});

t.test('only one whole object has members', async (t) => {
  for (const json of [
    '',
    ' ',
    'null',
    '1',
    '"{}"',
    '[]',
    '{} {}',
    '{}x',
    '{"a":1},',
    '{"a" 1}',
    "{'a':1}",
    '{a:1}',
    '{"a":}',
  ]) {
    t.throws(() => members(Buffer.from(json)), broken, json);
  }
  t.equal(member(Buffer.from(' {} '), 'a'), undefined);
});

t.test('nesting is bounded', async (t) => {
  const nested = (depth: number) => Buffer.from(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  t.ok(member(nested(127), 'a'));
  t.throws(() => member(nested(128), 'a'), broken);
  t.throws(() => canonicalJson(nested(1_000_000)), broken);
});

t.test('digits and white space in one place are bounded', async (t) => {
  const [digits, space] = ['1'.repeat(4096), ' '.repeat(65_536)];
  t.ok(member(Buffer.from(`{"a":${space}${digits}}`), 'a'));
  for (const json of [`{"a":1${digits}}`, `{"a": ${space}1}`]) t.throws(() => member(Buffer.from(json), 'a'), broken);
});

t.test('a safe integer is parsed exactly or not at all', async (t) => {
  fc.assert(fc.property(fc.maxSafeInteger(), (n) => parseSafeInteger(Buffer.from(`${n}`)) === n));
  for (const not of ['9007199254740992', '18446744073709551615', '1.0', '1e3', '', '"1"', 'null', '01', ' 1']) {
    t.throws(() => parseSafeInteger(Buffer.from(not)), broken, not);
  }
  t.throws(() => parseSafeInteger(undefined), broken);
});

t.test('a string is parsed exactly or not at all', async (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (s) => parseString(Buffer.from(JSON.stringify(s))) === s));
  for (const not of ['1', 'null', '"a', '"a" "b"', '']) t.throws(() => parseString(Buffer.from(not)), broken, not);
  t.throws(() => parseString(undefined), broken);
});

t.test('canonical JSON has the same value and is equal for every spelling', async () => {
  const shuffled = (json: Record<string, unknown>) =>
    fc
      .shuffledSubarray(Object.keys(json), { minLength: Object.keys(json).length })
      .chain((names) => spelling(Object.fromEntries(names.map((name) => [name, json[name]])), false));
  const twice = fc
    .dictionary(fc.stringMatching(/^[A-Z]{1,3}$/), value)
    .chain((json) => fc.tuple(shuffled(json), shuffled(json)));
  fc.assert(
    fc.property(twice, ([one, other]) => {
      const canonical = canonicalJson(Buffer.from(one));
      assert.deepEqual(JSON.parse(canonical), JSON.parse(one));
      assert.equal(canonical, canonicalJson(Buffer.from(canonical)));
      assert.equal(canonicalJson(Buffer.from(other)), canonical);
    }),
  );
});

t.test('a long text becomes canonical in parts as it would in one go, and what is broken is refused', async () => {
  const turns = { count: 0 };
  const yieldTurn = async (): Promise<void> => {
    turns.count++;
  };
  const texts = fc.tuple(value, fc.boolean(), fc.constantFrom(0, 5000, 300_000));
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 4 }), fc.nat(), async (items, seed) => {
      const json = JSON.stringify(
        items.map(([some, escapes, length]) => ({ z: some, a: [(escapes ? '\\"' : 'x').repeat(length), some] })),
      );
      const bytes = Buffer.from(json);
      turns.count = 0;
      assert.equal(Buffer.concat([...(await canonicalParts(bytes, yieldTurn))]).toString(), canonicalJson(bytes));
      assert.ok(turns.count >= Math.floor(json.length / YIELD_EVERY_BYTES) - 1);
      const cut = bytes.subarray(0, seed % bytes.length);
      await assert.rejects(canonicalParts(cut, yieldTurn), broken);
      assert.deepEqual(await elementsYielding(bytes, yieldTurn), elements(bytes));
    }),
    { numRuns: 40 },
  );
});

t.test('canonical JSON keeps the spelling of numbers and strings', async (t) => {
  const spelled = String.raw`{"z": [1.50, 18446744073709551615, -0], "a": "\u0041\/é", "é": {"b": null, "a": true}}`;
  const canonical = String.raw`{"a":"\u0041\/é","z":[1.50,18446744073709551615,-0],"é":{"a":true,"b":null}}`;
  t.equal(canonicalJson(Buffer.from(spelled)), canonical);
  t.equal(canonicalJson(Buffer.from(' [ ] ')), '[]');
});

t.test('canonical JSON rejects what is not JSON or not UTF-8', async (t) => {
  for (const json of ['', '{"a":1', '[1,]', '"a" 1']) t.throws(() => canonicalJson(Buffer.from(json)), broken, json);
  t.throws(() => canonicalJson(Buffer.from([0x22, 0xff, 0x22])), broken);
});

t.test('a long text is scanned with a yield after each stretch, wherever in it the length lies', async (t) => {
  const row = JSON.stringify({ name: 'x'.repeat(900), list: [[1, { deep: [true, null, 'y'.repeat(90)] }]] });
  const rows = `[${Array.from({ length: 3000 }, () => row).join()}]`;
  const shapes = { flat: rows, nested: `{"context":{"slot":1},"value":{"inner":{"rows":${rows}}}}` };
  for (const [shape, result] of Object.entries(shapes)) {
    const bytes = Buffer.from(`{"jsonrpc":"2.0","result":${result},"id":1}`);
    let turns = 0;
    const found = await membersYielding(bytes, async () => void turns++);
    t.strictSame(found, members(bytes), shape);
    const nested = await nestedMembersYielding(bytes, 'result');
    t.strictSame(nested, { outer: found, inner: shape === 'flat' ? undefined : members(Buffer.from(result)) }, shape);
    t.ok(
      turns >= Math.floor(bytes.length / (YIELD_EVERY_BYTES + 2 * row.length)),
      `${turns} turns for ${bytes.length} bytes`,
    );
  }
  const bytes = Buffer.from(rows);
  let turns = 0;
  t.strictSame(await elementsYielding(bytes, async () => void turns++), elements(bytes));
  t.ok(turns >= Math.floor(bytes.length / (YIELD_EVERY_BYTES + 2 * row.length)), `${turns} turns between rows`);
});

t.test('an error far into a long text is found', async (t) => {
  const rows = Array.from({ length: 9000 }, () => '{"a":[1,2,3],"b":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}').join();
  for (const end of ['', ']', '}]', ',]}', ']}}', '] }x'])
    await t.rejects(membersYielding(Buffer.from(`{"r":[${rows}${end}`)), broken, end);
});

t.test('inner members are those of the last of repeated members, if it is an object', async (t) => {
  const innerOf = async (json: string) => (await nestedMembersYielding(Buffer.from(json), 'a')).inner;
  t.strictSame(await innerOf('{"a":{"b":1},"\\u0061":{"b":2,"c":{}}}'), members(Buffer.from('{"b":2,"c":{}}')));
  t.equal(await innerOf('{"a":{"b":1},"a":[]}'), undefined);
  await t.rejects(innerOf('{"a":{"b":1,}}'), { code: 'upstream_error' });
});
