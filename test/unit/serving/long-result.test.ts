import t from 'tap';
import { newEntry } from '../../../src/cache/entry.ts';
import { digestOf } from '../../../src/receipts/digest.ts';
import { formatSignedBody } from '../../../src/receipts/signed-body.ts';
import { formatInTurns, hashInTurns, hasLongResult } from '../../../src/serving/long-result.ts';

const entryOf = (result: string | Buffer) =>
  newEntry(result, {
    key: '/x',
    slot: 7,
    policy: { slots: 2 },
    meta: { envelope: 'signed', commitment: 'confirmed', exact: false },
    tipAtFetch: 7,
    validatedMs: 0,
  });

t.test('a long result gets the digest and the body that it would get in one turn', async (t) => {
  const receipt = '{"a":"b"}';
  const texts = ['', 'x', 'é'].map((padding) => `"${padding}${'😀'.repeat(600_000)}"`); // some slice ends within a character
  for (const result of [...texts, ...texts.map((text) => Buffer.from(text)), Buffer.from('"bytes are long"')]) {
    const entry = entryOf(result);
    t.ok(hasLongResult(entry));
    await Promise.all([hashInTurns(entry), hashInTurns(entry)]);
    t.equal(entry.digest, digestOf(entry.result.toString()));
    const body = await formatInTurns(entry, receipt);
    t.ok(body.equals(Buffer.from(formatSignedBody(entry.result.toString(), entry.slot, receipt))));
  }
});

t.test('a short result is no long one', async (t) => {
  t.notOk(hasLongResult(entryOf('null')));
});
