import fc from 'fast-check';
import t from 'tap';
import { TemplatedText, toTemplatedText } from '../../../src/domain/templated-text.ts';

const OWNER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const tokenAccount = (amount: number): string =>
  `{"lamports":2039280,"data":{"program":"spl-token","parsed":{"info":{"isNative":false,"mint":"${MINT}","owner":"${OWNER}",` +
  `"state":"initialized","tokenAmount":{"amount":"${amount}","decimals":6,"uiAmount":${amount / 1e6},"uiAmountString":"${amount / 1e6}"}},` +
  `"type":"account"},"space":165},"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","executable":false,"rentEpoch":18446744073709551615,"space":165}`;

/** Texts with words that are values, words that are not, and everything between them. */
const texts = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.stringMatching(/^[\w+/=.-]{1,50}$/),
      fc.constantFrom(OWNER, 'lamports', '18446744073709551615', '"', ',', '\0'),
    ),
    { minLength: 1, maxLength: 400 },
  )
  .map((pieces) => pieces.join(''));

t.test('every text comes back as it was', async () => {
  fc.assert(fc.property(texts, (text) => toTemplatedText(text).toString() === text));
  fc.assert(
    fc.property(fc.nat(), (amount) => toTemplatedText(tokenAccount(amount)).toString() === tokenAccount(amount)),
  );
});

t.test(
  'texts share a template once eight have it: a token account takes less than a third of its length',
  async (t) => {
    for (let i = 0; i < 7; i++) {
      const lone = tokenAccount(i).replace('decimals', 'digits');
      t.equal(toTemplatedText(lone), lone);
    }
    t.type(toTemplatedText(tokenAccount(7).replace('decimals', 'digits')), TemplatedText);
    const text = tokenAccount(1_234_567_890);
    const templated = toTemplatedText(text);
    t.ok(templated instanceof TemplatedText && templated.ownLength < text.length / 3);
  },
);

t.test('what would gain nothing stays as it is', async (t) => {
  for (const [name, text] of Object.entries({
    short: tokenAccount(1).slice(0, 255),
    long: `${tokenAccount(1)}${' '.repeat(4096)}`,
    'without values': '{"a":"b"}'.repeat(50),
    'of one value': `${'{"a":"b"}'.repeat(50)}{"a":1}`,
    'of many values': '{"a":1}'.repeat(65),
    'beyond one byte': tokenAccount(1).replace('account', 'account ☃'),
    'with a NUL': `${tokenAccount(1)}\0`,
  }))
    for (let i = 0; i < 9; i++) t.equal(toTemplatedText(text), text, name);
});

t.test('a template that is forgotten serves the texts that have it', async (t) => {
  for (let i = 0; i < 8; i++) toTemplatedText(tokenAccount(i));
  const first = toTemplatedText(tokenAccount(1));
  t.type(first, TemplatedText);
  const wrong: string[] = [];
  for (let i = 0; i < 1001; i++) {
    const name = [...i.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');
    const other = tokenAccount(2).replace('isNative', name);
    for (let j = 0; j < 8; j++) if (toTemplatedText(other).toString() !== other) wrong.push(name);
  }
  t.same(wrong, []);
  t.equal(first.toString(), tokenAccount(1));
});
