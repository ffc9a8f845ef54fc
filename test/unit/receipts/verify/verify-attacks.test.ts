import { sign } from 'node:crypto';
import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { digestOf } from '../../../../src/receipts/digest.ts';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { leafHash } from '../../../../src/receipts/merkle-tree.ts';
import { formatStatement } from '../../../../src/receipts/statement.ts';
import type { ReceiptFault } from '../../../../src/receipts/verify/receipt-error.ts';
import { canonicalRequestLine } from '../../../../src/receipts/verify/request-line.ts';
import { createVerifier, type Expected } from '../../../../src/receipts/verify/verify-receipt.ts';
import {
  CLUSTER,
  NOW_MS,
  newSigner,
  sealAnswers,
  type UnsealedAnswer,
} from '../../../support/receipts/sealed-answers.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';
import { withUnreducedScalar } from '../hostile-signer.ts';
import { replaceOnce, verificationOutcome } from '../verification-outcome.ts';

// The attacks on an honest key's receipts, by their aim. Attacks by the owner of a key are in
// signature-backends.test.ts.

const secret = parsePrivateKey('5e'.repeat(32));
const signer = newSigner(secret);
const NONCE = 'A'.repeat(16);
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

const answer: UnsealedAnswer = {
  request: 'GET /api/v1/balance/one',
  slot: 42,
  commitment: 'finalized',
  claim: 'exact',
  nonce: null,
  result: '{"lamports":9007199254740993,"name":"☃"}',
};
const weaker = { ...answer, request: 'GET /api/v1/balance/two', commitment: 'processed', claim: 'observed' } as const;
const [body = '', weak = '', bound = '', fourth = ''] = sealAnswers(signer, [
  answer,
  weaker,
  { ...answer, nonce: NONCE },
  { ...answer, request: 'GET /api/v1/balance/four' },
]);
const [alone = ''] = sealAnswers(signer, [answer], NOW_MS + 1);
const [later = ''] = sealAnswers(signer, [{ ...answer, nonce: NONCE }], NOW_MS + 2);
const frame = sealAnswers(signer, [{ ...answer, request: 'SUB /api/v1/balance/one' }])[0] ?? '';

const expected: Expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request: answer.request };
const verify = createVerifier();
const fault = (text: string | Uint8Array, different: Partial<Expected> = {}): string =>
  verificationOutcome(verify, text, { ...expected, ...different });

const edit = (from: string | RegExp, to: string): string => replaceOnce(body, from, to);
const sigIn = (text: string): string => /"sig":"([0-9a-f]{128})"/.exec(text)?.[1] ?? '';
/** The members that were not in the statement, with their values. */
const proofIn = (text: string): string => /"size":.*(?=\}\}$)/.exec(text)?.[0] ?? '';
const [sibling = '', uncle = ''] = /"path":\["(.{64})","(.{64})"\]/.exec(body)?.slice(1) ?? [];
const withSig = (text: string, sig: Uint8Array): string =>
  replaceOnce(text, sigIn(text), Buffer.from(sig).toString('hex'));
const at = (nowMs: number, maxAgeMs?: number): Partial<Expected> => ({
  time: maxAgeMs === undefined ? { nowMs } : { nowMs, maxAgeMs },
});
const smallOrder = Buffer.from(ED25519_TORSION_SUBGROUP[1] ?? '', 'hex');
const [vector] = testVectors.vectors;
const statement = formatStatement(signer.publicKey, JSON.parse(alone).receipt);

type Attack = readonly [how: string, fault: ReceiptFault, body: string | Uint8Array, expected?: Partial<Expected>];

const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  'an old answer passes for a new one': [
    ['it is older than it may be', 'stale', body, at(NOW_MS + 60_001, 60_000)],
    ['its slot is', 'old-slot', body, { minSlot: 43 }],
    ['its time is changed', 'signature', edit(/"issuedAt":\d+/, `"issuedAt":${NOW_MS + 1}`)],
    ['it was made ahead, by a clock that is fast', 'future', body, at(NOW_MS - 5_001)],
    ['a nonce was sent, and none is in it', 'nonce', body, { nonce: NONCE }],
    ['another nonce is', 'nonce', bound, { nonce: 'B'.repeat(16) }],
    ['it was made for one who sent a nonce', 'nonce', bound],
    ['the nonce is written into it', 'signature', edit('"nonce":null', `"nonce":"${NONCE}"`), { nonce: NONCE }],
    [
      'so is the proof of a later answer that has it',
      'signature',
      replaceOnce(edit('"nonce":null', `"nonce":"${NONCE}"`), proofIn(body), proofIn(later)),
      { nonce: NONCE },
    ],
  ],
  'an answer passes for that to another question': [
    ['as it is', 'request', weak],
    ['with a parameter more', 'request', body, { request: `${answer.request}?commitment=finalized` }],
    ['a frame for an answer', 'request', frame],
    ['an answer for a frame', 'request', body, { request: 'SUB /api/v1/balance/one' }],
    ['its request is changed to what was asked', 'signature', replaceOnce(weak, 'balance/two', 'balance/one')],
    ['its request is spelled in another way', 'malformed', edit('balance/one', 'balance/\\u006fne')],
    [
      'with the receipt of the right one, of the same result',
      'signature',
      replaceOnce(fourth, 'balance/four', 'balance/one'),
    ],
    ['with the receipt of the right one', 'digest', edit('"lamports":9', '"lamports":8')],
  ],
  'an answer of another cluster passes': [
    ['as it is', 'cluster', body, { cluster: DEVNET }],
    ['its cluster is changed to the right one', 'signature', edit(CLUSTER, DEVNET), { cluster: DEVNET }],
  ],
  'an answer moves to another slot': [
    ['in the envelope', 'envelope', edit(',"slot":42,"receipt"', ',"slot":43,"receipt"')],
    ['in the receipt', 'envelope', edit('"status":200,"slot":42', '"status":200,"slot":43')],
    ['in both', 'signature', edit(/"slot":42/g, '"slot":43')],
    ['spelled as 4.2e1', 'malformed', edit(/"slot":42/g, '"slot":4.2e1')],
    ['spelled as 042', 'malformed', edit(/"slot":42/g, '"slot":042')],
    ['beyond what a double holds', 'malformed', edit(/"slot":42/g, '"slot":9007199254740992')],
  ],
  'a reader of JSON sees another result than was signed': [
    ['a second result before', 'digest', edit('{"result":', '{"result":1,"result":')],
    ['a second result after', 'digest', edit(',"slot":42', ',"result":1,"slot":42')],
    ['a second slot', 'digest', edit(',"slot":42', ',"slot":42,"slot":42')],
    ['a second receipt before', 'envelope', edit(',"receipt":', ',"receipt":{},"receipt":')],
    ['a second receipt after', 'malformed', edit(/\}$/, ',"receipt":{}}')],
    ['a member more', 'malformed', edit(/\}$/, ',"more":1}')],
    ['a result after the receipt', 'malformed', edit(/\}$/, ',"result":1}')],
    ['a member of the receipt twice', 'malformed', edit('"v":1,', '"v":1,"v":1,')],
    ['two members of the receipt swapped', 'malformed', edit(/("kid":"[^"]*"),("cluster":"[^"]*")/, '$2,$1')],
    ['a member more in the receipt', 'malformed', edit('"v":1,', '"v":1,"w":1,')],
    ['no result', 'envelope', edit(`${answer.result},`, '')],
    ['an empty result', 'envelope', edit(answer.result, '')],
    ['a byte order mark', 'envelope', Buffer.from(`\ufeff${body}`)],
    ['a line end after it', 'envelope', `${body}\n`],
    ['a blank before it', 'envelope', ` ${body}`],
    ['a blank before the result', 'digest', edit('{"result":', '{"result": ')],
    ['half a character', 'utf8', edit('☃', '\ud83d')],
    ['bytes that are no text', 'utf8', Buffer.from(edit('☃', 'ÿ'), 'latin1')],
    ['nothing', 'envelope', ''],
    ['no object', 'envelope', 'null'],
    ['an empty object', 'malformed', '{}'],
  ],
  'a proxy reformats numbers and spaces': [
    ['parsed and printed', 'digest', JSON.stringify(JSON.parse(body))],
    ['printed with line ends', 'malformed', JSON.stringify(JSON.parse(body), null, 1)],
    ['rounded', 'digest', edit('9007199254740993', '9007199254740992')],
  ],
  'one proof has two spellings': [
    ['S + L', 'signature', withSig(body, withUnreducedScalar(Buffer.from(sigIn(body), 'hex')))],
    ['capitals in the signature', 'malformed', edit(sigIn(body), sigIn(body).toUpperCase())],
    ['capitals in the key id', 'malformed', edit(/"kid":"[^"]*"/, `"kid":"${'A'.repeat(16)}"`)],
    ['another place in the tree', 'signature', edit('"index":0', '"index":1')],
    ['a place beyond the tree', 'malformed', edit('"index":0', '"index":4')],
    ['a smaller tree', 'path', edit('"size":4', '"size":2')],
    ['a bigger tree of the same height', 'signature', edit('"size":4', '"size":3')],
    ['a bigger tree', 'path', edit('"size":4', '"size":5')],
    ['a tree beyond all bounds', 'malformed', edit('"size":4', '"size":65537')],
    ['a path cut short', 'path', edit(`"${sibling}",`, '')],
    ['a path drawn out', 'path', edit(`"${sibling}",`, `"${sibling}","${sibling}",`)],
    ['a path too long for any tree', 'malformed', edit(`"${sibling}"`, Array(16).fill(`"${sibling}"`).join(','))],
    ['a path turned round', 'signature', edit(`"${sibling}","${uncle}"`, `"${uncle}","${sibling}"`)],
    ['another version', 'malformed', edit('"v":1', '"v":2')],
    ['a blank in it', 'malformed', edit('"v":1', '"v": 1')],
    ['a nonce that none can send', 'malformed', edit('"nonce":null', '"nonce":"short"')],
    ['a time beyond what a double holds', 'malformed', edit(/"issuedAt":\d+/, '"issuedAt":9007199254740993')],
  ],
  'what was signed for one purpose serves another': [
    ['the signature of another tree', 'signature', replaceOnce(alone, sigIn(alone), sigIn(body))],
    [
      'a node of the tree for a leaf',
      'signature',
      replaceOnce(edit('"size":4', '"size":2'), `["${sibling}","${uncle}"]`, `["${uncle}"]`),
    ],
    [
      'the statement signed in place of the tree',
      'signature',
      withSig(alone, sign(null, Buffer.from(statement), secret)),
    ],
    [
      'the leaf signed in place of the tree',
      'signature',
      withSig(alone, sign(null, Buffer.from(leafHash(statement), 'hex'), secret)),
    ],
    [
      'the word for the next key in place of a receipt',
      'signature',
      replaceOnce(vector.body, sigIn(vector.body), testVectors.succession.sig),
      { publicKeys: [testVectors.publicKey], cluster: vector.cluster, request: vector.canonicalRequest },
    ],
  ],
  'a statement promises more than it did': [
    ['observed becomes exact', 'signature', replaceOnce(weak, 'observed/', 'exact/'), { request: weaker.request }],
    [
      'processed becomes finalized',
      'signature',
      replaceOnce(weak, 'processed', 'finalized'),
      { request: weaker.request },
    ],
    ['another revision of the result', 'signature', edit('"exact/1"', '"exact/2"')],
    ['a refusal becomes an answer', 'status', edit('"status":200', '"status":404')],
  ],
  'a key is taken that nobody should trust': [
    ["somebody else's", 'unknown-key', body, { publicKeys: [newSigner().publicKey] }],
    ['none is trusted', 'unknown-key', body, { publicKeys: [] }],
    [
      'the hint names a key that is trusted',
      'signature',
      replaceOnce(vector.body, testVectors.kid, JSON.parse(body).receipt.kid),
      {
        request: vector.canonicalRequest,
        cluster: vector.cluster,
      },
    ],
    [
      'one of small order, which fits many messages',
      'weak-key',
      edit(/"kid":"[^"]*"/, `"kid":"${digestOf(smallOrder).slice(0, 16)}"`),
      { publicKeys: [bs58.encode(smallOrder)] },
    ],
  ],
};

t.test('without an attack each body is valid', async (t) => {
  for (const text of [body, alone]) t.equal(fault(text), 'holds');
  t.equal(fault(weak, { request: weaker.request }), 'holds');
  t.equal(fault(bound, { nonce: NONCE }), 'holds');
  t.equal(fault(frame, { request: 'SUB /api/v1/balance/one' }), 'holds');
  t.equal(fault(body, at(NOW_MS + 60_000, 60_000)), 'holds');
  t.equal(fault(body, at(NOW_MS - 5_000)), 'holds');
});

for (const [aim, attacks] of Object.entries(ATTACKS)) {
  t.test(`attack: ${aim}`, async (t) => {
    for (const [how, expected, text, different] of attacks) t.equal(fault(text, different), expected, how);
  });
}

t.test('attack: a query is spelled so that two requests seem one', async (t) => {
  const query = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-c]{1,2}$/), fc.string({ maxLength: 3 })), {
    selector: ([name]) => name,
    maxLength: 3,
  });
  const spell = (pairs: readonly (readonly [string, string])[]): string =>
    `GET /api/v1/search?${pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
  const meaning = (pairs: readonly (readonly [string, string])[]): string => JSON.stringify([...pairs].sort());
  fc.assert(
    fc.property(query, query, (asked, answered) => {
      const request = spell([...answered].sort().reverse());
      const [text = ''] = sealAnswers(signer, [{ ...answer, request: canonicalRequestLine(request) }]);
      const said = fault(text, { request: spell(asked) });
      return said === (meaning(asked) === meaning(answered) ? 'holds' : 'request');
    }),
    { numRuns: 100 },
  );
  t.pass();
});
