import { spawnSync } from 'node:child_process';
import { createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { isOpensslSignature } from '../../../src/cli/commands/openssl-signature.ts';
import { isSignature, isStrongKey } from '../../../src/client/verify/ed25519-signature.ts';
import { chainDigest, EventChain } from '../../../src/client/verify/event-chain.ts';
import { parsePushFrame, stateBeforeIn } from '../../../src/client/verify/push-frame.ts';
import { formatReceipt, parseReceipt } from '../../../src/client/verify/receipt.ts';
import { ReceiptError, type ReceiptFault } from '../../../src/client/verify/receipt-error.ts';
import { canonicalRequestLine } from '../../../src/client/verify/request-line.ts';
import { memoized } from '../../../src/client/verify/signature-backend.ts';
import { formatSignedBody, receiptTextIn } from '../../../src/client/verify/signed-body.ts';
import { formatStatement, type Statement, treeHeadText } from '../../../src/client/verify/statement.ts';
import { parseTrustedKey, type TrustedKey } from '../../../src/client/verify/trusted-key.ts';
import {
  createVerifier,
  type Expected,
  equivocation,
  type Receipt,
  type Verifier,
  verifyReceipt,
} from '../../../src/client/verify/verify-receipt.ts';
import { digestOf } from '../../../src/gateway/receipts/digest.ts';
import { passesSigningTest } from '../../../src/gateway/receipts/keys/load-keys.ts';
import { parsePrivateKey } from '../../../src/gateway/receipts/keys/private-key-format.ts';
import { buildMerkleTree, inclusionPath, leafHash } from '../../../src/gateway/receipts/merkle-tree.ts';
import { signBatch } from '../../../src/gateway/receipts/sign-batch.ts';
import { publicBytesOf, signingKeyOf } from '../../../src/gateway/receipts/signing-key.ts';
import { rejectMutants } from '../../catalogue/receipts/receipt-mutants.ts';
import { pluck } from '../../support/pluck.ts';
import {
  exampleVerifierSource,
  runExampleVerifier,
  runJavaScript,
} from '../../support/receipts/example-implementation.ts';
import {
  commitmentTo,
  craftSignature,
  littleEndianInteger,
  littleEndianScalar,
  NON_CANONICAL_IDENTITY,
  SMALL_ORDER,
  withTorsion,
  withUnreducedScalar,
} from '../../support/receipts/hostile-signer.ts';
import { signWithNodeCrypto, verifyWithNodeCrypto } from '../../support/receipts/node-crypto-implementation.ts';
import {
  python,
  pythonReceipts,
  pythonSkipReason,
  pythonVerdicts,
  type VerifyRequest,
} from '../../support/receipts/python-implementation.ts';
import { CLUSTER, NOW_MS, newSigner, sealAnswers, type UnsealedAnswer } from '../../support/receipts/sealed-answers.ts';
import {
  allVectors,
  batchVectors,
  eventChainVectors,
  hostileVectors,
  singleVector,
  type TestVector,
  testVectors,
  vectorTrees,
} from '../../support/receipts/test-vectors.ts';
import { replaceOnce, verificationOutcome } from '../../support/receipts/verification-outcome.ts';

t.test('create-verifier', async (t) => {
  const signer = newSigner();
  const answers = Array.from({ length: 8 }, (_, n): UnsealedAnswer => {
    const request = `GET /api/v1/block/${n}`;
    return { request, slot: n, commitment: 'confirmed', claim: 'observed', nonce: null, result: `{"n":${n}}` };
  });
  const bodies = sealAnswers(signer, answers);
  const expected = (n: number): Expected => ({
    publicKeys: [signer.publicKey],
    cluster: CLUSTER,
    request: `GET /api/v1/block/${n}`,
  });

  function verdict(verify: Verifier, body: string, n: number): string {
    try {
      return verify(body, expected(n)).result;
    } catch (thrown) {
      if (thrown instanceof ReceiptError) return thrown.code;
      throw thrown;
    }
  }

  t.test('the receipts of a batch cost one signature check', async (t) => {
    let checks = 0;
    const verify = createVerifier({
      isSignature: (...args) => {
        checks++;
        return isSignature(...args);
      },
    });
    for (const [n, body] of bodies.entries()) t.equal(verdict(verify, body, n), `{"n":${n}}`);
    t.equal(checks, 1);
  });

  t.test('the cache changes no result: each one equals that of a verifier without a cache', async (t) => {
    const verify = createVerifier();
    for (const [n, body] of bodies.entries()) verdict(verify, body, n);
    const sig = /"sig":"(.{128})"/.exec(bodies[0] ?? '')?.[1] ?? '';
    const forgeries = (body: string): string[] => [
      body,
      body.replace(sig, `${sig.slice(1)}0`),
      body.replace(/"size":8/, '"size":7'),
      body.replace('confirmed', 'finalized'),
      body.replace(/"path":\["(.)/, (path) => path.slice(0, -1) + (path.endsWith('0') ? '1' : '0')),
      body.replace(/"issuedAt":(\d)/, '"issuedAt":$11'),
    ];
    fc.assert(
      fc.property(fc.nat(7), fc.nat(5), fc.nat(7), (n, forgery, requested) => {
        const body = forgeries(bodies[n] ?? '')[forgery] ?? '';
        const alone = verdict(verifyReceipt, body, requested);
        return (
          verdict(verify, body, requested) === alone && alone.startsWith('{') === (forgery === 0 && requested === n)
        );
      }),
      { numRuns: 100 },
    );
    t.pass();
  });

  t.test('only the newest tree heads are cached, and nothing that failed', async (t) => {
    const checked: string[] = [];
    const inner = {
      parseKey: parseTrustedKey,
      isSigned: (head: string, sig: string) => {
        checked.push(head);
        return sig === 'good';
      },
    };
    const judge = memoized(inner, 2);
    const key: TrustedKey = judge.parseKey(signer.publicKey);
    t.equal(judge.parseKey(signer.publicKey), key, 'a key is parsed once');
    const isSigned = (head: string, sig = 'good'): boolean => judge.isSigned(head, sig, key);
    t.ok(isSigned('a') && isSigned('b') && isSigned('b') && isSigned('a'));
    t.same(checked, ['a', 'b']);
    t.notOk(isSigned('c', 'bad'));
    t.notOk(isSigned('c', 'bad'));
    t.notOk(isSigned('a', 'bad'), 'a known tree head with another signature');
    t.same(checked, ['a', 'b', 'c', 'c', 'a']);
    t.ok(isSigned('d') && isSigned('b') && isSigned('d'), 'the oldest was evicted');
    t.same(checked.splice(5), ['d']);
    t.ok(isSigned('a'));
    t.same(checked.splice(5), ['a']);
    const other = judge.parseKey(newSigner().publicKey);
    t.ok(judge.isSigned('a', 'good', other));
    t.same(checked.splice(5), ['a'], 'nothing is cached for another key');
  });

  t.test('few keys are cached, however many are used', async (t) => {
    let read = 0;
    const judge = memoized(
      {
        parseKey: (base58) => {
          read++;
          return { base58, bytes: new Uint8Array(32), kid: '', isStrong: () => true };
        },
        isSigned: () => false,
      },
      1,
    );
    for (let n = 0; n < 65; n++) judge.parseKey(`key ${n}`);
    judge.parseKey('key 64');
    t.equal(read, 65);
    judge.parseKey('key 0');
    t.equal(read, 66, 'evicted, and parsed again');
  });
});

t.test('ed25519-signature', async (t) => {
  const secret = parsePrivateKey(randomBytes(32).toString('hex'));
  const publicKey = publicBytesOf(secret);
  const message = Buffer.from('proof-of-serve/v1 tree\n1\n…');

  t.test('an honest signature and an honest key pass', async (t) => {
    const signature = sign(null, message, secret);
    t.ok(isStrongKey(publicKey));
    t.ok(isSignature(signature, message, publicKey));
    t.ok(verify(null, message, createPublicKey(secret), signature));
    t.ok(passesSigningTest(secret));
    t.notOk(isSignature(signature, Buffer.from('other'), publicKey));
    t.notOk(isSignature(signature.subarray(1), message, publicKey));
  });

  t.test('a key that could deny its signatures is refused', async (t) => {
    for (const bytes of SMALL_ORDER) t.notOk(isStrongKey(bytes), 'small order');
    for (const torsion of SMALL_ORDER.slice(1)) t.notOk(isStrongKey(withTorsion(publicKey, torsion)), 'mixed order');
    t.notOk(isStrongKey(NON_CANONICAL_IDENTITY), 'a second spelling');
    t.notOk(isStrongKey(littleEndianScalar(2n)), 'not on the curve');
    t.notOk(isStrongKey(publicKey.subarray(1)), 'too short');
  });
});

t.test('equivocation', async (t) => {
  const key = signingKeyOf(parsePrivateKey(testVectors.seed));
  const { publicKey } = key;

  const truth: Statement = {
    cluster: CLUSTER,
    request: 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized',
    status: 200,
    slot: 42,
    commitment: 'finalized',
    claim: 'exact/1',
    digest: 'a'.repeat(64),
    issuedAt: NOW_MS,
    nonce: null,
  };
  const lie: Statement = { ...truth, digest: 'b'.repeat(64) };

  /** Returns the receipt of one statement, signed with `others` in the same tree. */
  const signed = (statement: Statement, ...others: Statement[]): string =>
    signBatch([statement, ...others], key)[0] ?? '';
  const isProof = (a: Partial<Statement>, b: Partial<Statement>): boolean =>
    equivocation(signed({ ...truth, ...a }), signed({ ...lie, ...b }), publicKey);

  t.test('two exact results for one finalized request convict', async (t) => {
    t.ok(isProof({}, {}));
    t.ok(isProof({}, { issuedAt: NOW_MS + 60_000, nonce: 'A'.repeat(16) }), 'at any time and for any caller');
    t.ok(equivocation(signed(truth, lie), signed(lie, truth, truth), publicKey), 'alone or together with others');
    t.ok(equivocation(JSON.parse(signed(truth)), JSON.parse(signed(lie)), publicKey), 'parsed or not');
    const hinted = signed(lie).replace(key.kid, '0'.repeat(16));
    t.ok(equivocation(signed(truth), hinted, publicKey), 'a wrong key id changes nothing');
  });

  t.test('one result signed several times convicts nobody', async (t) => {
    t.notOk(equivocation(signed(truth), signed({ ...truth, issuedAt: NOW_MS + 1 }), publicKey));
  });

  t.test('results may differ where one was not finalized', async (t) => {
    for (const commitment of ['processed', 'confirmed'] as const) {
      t.notOk(isProof({ commitment }, { commitment }), commitment);
      t.notOk(isProof({ commitment }, {}), `${commitment} and finalized`);
    }
  });

  t.test('results may differ where one is observed only', async (t) => {
    t.notOk(isProof({ claim: 'observed/1' }, { claim: 'observed/1' }));
    t.notOk(isProof({}, { claim: 'observed/1' }));
  });

  t.test('results may differ under two revisions of their schema', async (t) => {
    t.notOk(isProof({}, { claim: 'exact/2' }));
    t.ok(isProof({ claim: 'exact/2' }, { claim: 'exact/2' }));
  });

  t.test('results of two requests may differ', async (t) => {
    t.notOk(isProof({}, { request: 'GET /api/v1/slot' }));
    t.notOk(isProof({}, { slot: 43 }));
    t.notOk(isProof({}, { cluster: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' }));
    t.notOk(isProof({}, { status: 404 }));
  });

  t.test('a receipt that the key did not sign says nothing about its owner', async (t) => {
    const honest = signed(truth);
    const code = (a: Receipt | string, b: Receipt | string, of = publicKey): unknown => {
      try {
        return equivocation(a, b, of);
      } catch (thrown) {
        return (thrown as { code?: unknown }).code;
      }
    };
    const forged = honest.replace(truth.digest, lie.digest);
    t.equal(code(honest, forged), 'signature');
    t.equal(code(forged, honest), 'signature');
    t.equal(code(honest, signed(lie), newSigner().publicKey), 'signature');
    t.equal(code(honest, signed(lie, truth).replace('"index":0', '"index":1')), 'signature');
    t.equal(code(honest, signed(lie, truth).replace('"size":2', '"size":1')), 'path');
    t.equal(code(honest, ` ${signed(lie)}`), 'malformed');
    t.equal(code(honest, { ...JSON.parse(signed(lie)), more: 1 }), 'malformed');
    t.equal(code(honest, signed(lie), '1'.repeat(32)), 'weak-key');
    t.throws(() => equivocation(honest, honest, 'nobody'), TypeError);
  });

  const statement: fc.Arbitrary<Statement> = fc.record({
    cluster: fc.constant(CLUSTER),
    request: fc.constantFrom(truth.request, 'GET /api/v1/slot'),
    status: fc.constant(200),
    slot: fc.constantFrom(42, 43),
    commitment: fc.constantFrom('processed', 'confirmed', 'finalized', 'finalized', 'finalized'),
    claim: fc.constantFrom('exact/1', 'exact/1', 'exact/2', 'observed/1'),
    digest: fc.constantFrom(truth.digest, lie.digest),
    issuedAt: fc.nat(),
    nonce: fc.constantFrom(null, 'A'.repeat(16)),
  });

  t.test('it is symmetric, and true of exactly those that contradict each other', async (t) => {
    fc.assert(
      fc.property(statement, statement, (a, b) => {
        const verdict = equivocation(signed(a), signed(b), publicKey);
        const firm = [a, b].every(({ claim, commitment }) => claim !== 'observed/1' && commitment === 'finalized');
        const subject = ({ request, slot, claim }: Statement): string => `${request} ${slot} ${claim}`;
        t.equal(verdict, firm && subject(a) === subject(b) && a.digest !== b.digest);
        return verdict === equivocation(signed(b), signed(a), publicKey);
      }),
      { numRuns: 30, examples: [[truth, lie]] },
    );
  });

  t.test('an honest signer never convicts itself: its guard claims observed for the second result', async (t) => {
    fc.assert(
      fc.property(fc.array(statement, { minLength: 2, maxLength: 6 }), (statements) => {
        const signer = newSigner();
        const receipts = signer.seal(
          statements.map((one) => ({ ...one, claim: one.claim === 'observed/1' ? 'observed' : 'exact' })),
          NOW_MS,
        );
        return receipts.every((a) => receipts.every((b) => !equivocation(a, b, signer.publicKey)));
      }),
      { numRuns: 4 },
    );
    t.pass();
  });
});

t.test('event-chain', async (t) => {
  const { publicKey, cluster, request, frames, eventTexts, previous, accepted, refused } = eventChainVectors;
  const receipts = frames.map((frame) => {
    const { metadata = '', answer = '' } = parsePushFrame(frame) ?? {};
    const { receipt } = verifyReceipt(answer, { publicKeys: [publicKey], cluster, request });
    return { receipt, before: stateBeforeIn(metadata) };
  });
  const follow = (order: readonly number[], of = receipts): EventChain => {
    const chain = new EventChain();
    for (const at of order) {
      const event = of[at];
      if (event !== undefined) chain.add(event.receipt, event.before);
    }
    return chain;
  };

  t.test('the published events name the one before them, and follow each other in no other order', async (t) => {
    const digests = eventTexts.slice(0, -1).map((text) => digestOf(text));
    t.strictSame(digests, previous.slice(1));
    const linked = receipts.map(({ receipt }) => receipt.previous);
    t.strictSame(linked, previous);
    for (const order of accepted) t.doesNotThrow(() => follow(order));
    for (const [name, order] of Object.entries(refused)) t.throws(() => follow(order), { code: 'chain' }, name);
  });

  t.test('a state in between begins another chain, and never goes back but to the same state', async (t) => {
    const [state] = receipts;
    if (state === undefined) throw new Error('the vectors are gone');
    /** Returns the last of the published events, and a state after it. */
    const followedBy = (slot: number, digest = state.receipt.digest): EventChain =>
      follow([0, 1, 2, 4], [...receipts, { ...state, receipt: { ...state.receipt, slot, digest } }]);
    t.equal(followedBy(296410300, digestOf('other')).starts, 2);
    t.throws(() => followedBy(296410240, digestOf('other')), { code: 'chain' });
    t.equal(followedBy(296410235).starts, 2, 'another gateway may know it since an older slot');
    t.throws(() => follow([0, 1, 2, 0, 1]), { code: 'chain' }, 'an event that followed the same state before');
  });

  t.test('a state that another gateway knows since an older slot goes on, another one does not', async (t) => {
    const [state, change] = receipts.map(({ receipt, before }) => ({ receipt, before }));
    if (state === undefined || change === undefined) throw new Error('the vectors are gone');
    const later = { ...state, receipt: { ...state.receipt, slot: state.receipt.slot + 1 } };
    t.doesNotThrow(() => follow([0, 1], [later, change]));
    t.throws(() => follow([0, 1], [later, { ...change, before: undefined }]), { code: 'chain' });
    const other = { ...later, receipt: { ...later.receipt, digest: digestOf('other') } };
    t.throws(() => follow([0, 1], [other, change]), { code: 'chain' });
  });

  t.test('each sequence of which an event is removed, doubled or moved is refused', async (t) => {
    const first = receipts[0]?.receipt;
    if (first === undefined) throw new Error('the vectors are gone');
    let text = '{"lamports":0}';
    let receipt: Receipt = { ...first, slot: 100, digest: digestOf(text) };
    const long = Array.from({ length: 24 }, (_, i) => {
      const event = { receipt, before: undefined };
      text = `{"lamports":${i % 3}}`;
      receipt = { ...first, slot: receipt.slot + 1 + (i % 4), digest: digestOf(text), previous: chainDigest(receipt) };
      return event;
    });
    const all = long.map((_, i) => i);
    t.equal(follow(all, long).starts, 1);
    const inner = all.slice(1, -1);
    const changed = inner.flatMap((at) => {
      const without = all.toSpliced(at, 1);
      const moved = inner.filter((to) => to !== at).map((to) => without.toSpliced(to, 0, at));
      return [without, all.toSpliced(at, 0, at), ...moved];
    });
    t.equal(changed.length, 22 * 23);
    const isRefused = (order: readonly number[]): boolean => {
      try {
        follow(order, long);
        return false;
      } catch (thrown) {
        if (!(thrown instanceof ReceiptError) || thrown.code !== 'chain') throw thrown;
        return true;
      }
    };
    const accepted = changed.filter((order) => !isRefused(order));
    t.same(accepted, []);
  });
});

t.test('example-verifier', async (t) => {
  const { publicKey } = testVectors;
  const judge = (vector: TestVector, body = vector.body): string =>
    runExampleVerifier({
      publicKey,
      cluster: vector.cluster,
      request: vector.canonicalRequest,
      nonce: vector.nonce,
      body,
    });

  t.test('the verifier in Python among the examples is short', async (t) => {
    t.match(exampleVerifierSource, 'openssl');
    t.ok(exampleVerifierSource.trimEnd().split('\n').length <= 40);
  });

  // `npm run check -- receipts` judges all vectors, the hostile ones too, in each language.
  t.test('one in another language accepts a vector of each version, and no changed body', async (t) => {
    for (const { name, canonicalRequest: request, resultHex, ...vector } of [singleVector, ...allVectors.slice(-1)])
      t.equal(runJavaScript({ ...vector, publicKey, request }), Buffer.from(resultHex, 'hex').toString(), name);
    for (const {
      fault,
      name,
      publicKey: key = publicKey,
      canonicalRequest: request,
      ...vector
    } of hostileVectors.slice(-1))
      t.equal(runJavaScript({ ...vector, publicKey: key, request }), `refused: ${fault}`, name);
  });

  t.test('it accepts the published vectors, and none that was changed', { skip: pythonSkipReason }, async (t) => {
    const [, bound = singleVector] = batchVectors;
    for (const vector of [singleVector, bound])
      t.equal(judge(vector), Buffer.from(vector.resultHex, 'hex').toString(), vector.name);
    t.equal(judge(singleVector, singleVector.body.replace('9007199254740993', '9007199254740992')), 'refused: digest');
    t.equal(
      judge(singleVector, singleVector.body.replaceAll('"slot":296410233', '"slot":296410234')),
      'refused: signature',
    );
    t.equal(judge(bound, bound.body.replace(/"size":\d+/, '"size":9')), 'refused: path');
    t.equal(judge(singleVector, singleVector.body.replace('"index":0', '"index":"0"')), 'refused: malformed');
    t.equal(judge(singleVector, singleVector.body.replaceAll(/"slot":\d+/g, '"slot":null')), 'refused: malformed');
  });
});

t.test('independent-implementations', async (t) => {
  const receiptOf = ({ body }: TestVector): Receipt => {
    const receipt = parseReceipt(receiptTextIn(body));
    if (receipt === undefined) throw new Error('no receipt');
    return receipt;
  };

  const { publicKey, seed } = testVectors;
  const key = signingKeyOf(parsePrivateKey(seed));
  const ours = (body: string, { cluster, canonicalRequest: request, nonce }: TestVector): boolean =>
    verifyReceipt(body, { publicKeys: [publicKey], cluster, request, nonce }).slot > 0;

  /** Signs the bodies of the vectors again. */
  function signedBy(sign: (trees: readonly (readonly Receipt[])[]) => readonly string[]): string[] {
    const receipts = sign(vectorTrees.map((tree) => tree.map(receiptOf)));
    return allVectors.map(({ body }, i) => `${body.slice(0, body.lastIndexOf('{'))}${receipts[i]}}`);
  }

  const signers: Readonly<Record<string, () => string[]>> = {
    ours: () => signedBy((trees) => trees.flatMap((receipts) => signBatch(receipts, key))),
    'node:crypto': () => signedBy((trees) => trees.flatMap((receipts) => signWithNodeCrypto(seed, receipts))),
    'Python and openssl': () => signedBy((trees) => pythonReceipts(seed, trees)),
  };

  for (const [name, sign] of Object.entries(signers)) {
    const skip = name.startsWith('Python') && pythonSkipReason;
    t.test(`${name}: the vectors are signed to the bit`, { skip }, async (t) => {
      t.same(sign(), pluck(allVectors, 'body'));
    });
  }

  t.test('all three verifiers accept the vectors', async (t) => {
    for (const vector of allVectors) {
      const { name, body } = vector;
      t.ok(ours(body, vector), `ours ${name}`);
      t.ok(verifyWithNodeCrypto(body, publicKey), `node:crypto ${name}`);
      t.notOk(verifyWithNodeCrypto(body.replace(/"issuedAt":\d/, '"issuedAt":8'), publicKey));
    }
    const requests = allVectors.map(({ canonicalRequest: request, ...vector }) => ({ ...vector, publicKey, request }));
    if (!pythonSkipReason) t.same(new Set(pythonVerdicts(requests)), new Set(['holds']));
  });

  t.test('the Python verifier is a program that prints the result, or the fault', { skip: pythonSkipReason }, (t) => {
    const script = fileURLToPath(new URL('../../../../test/support/receipts/verify-receipt.py', import.meta.url));
    const { cluster, canonicalRequest, nonce, body, resultHex } = singleVector;
    const args = [script, publicKey, cluster, canonicalRequest, '-', ...(nonce === null ? [] : [nonce])];
    const judge = (input: string) => {
      const { status, stdout, stderr } = spawnSync(python, args, { input, encoding: 'utf8' });
      return [status, (stdout || stderr).trim()];
    };
    t.same(judge(body), [0, Buffer.from(resultHex, 'hex').toString()]);
    t.same(judge(body.replace('9007199254740993', '9007199254740992')), [1, 'refused: digest']);
    t.end();
  });

  t.test('none accepts a body of the hostile vectors, each for its fault', async (t) => {
    for (const {
      name,
      fault,
      publicKey: key = publicKey,
      cluster,
      canonicalRequest: request,
      nonce,
      body,
    } of hostileVectors)
      t.throws(() => verifyReceipt(body, { publicKeys: [key], cluster, request, nonce }), { code: fault }, name);
    const questions = hostileVectors.map(({ publicKey: key = publicKey, canonicalRequest: request, ...rest }) => {
      return { ...rest, publicKey: key, request };
    });
    if (!pythonSkipReason)
      t.same(
        pythonVerdicts(questions),
        hostileVectors.map(({ fault }) => fault),
      );
  });

  t.test('a changed count of operators is refused', async (t) => {
    const [vector = singleVector] = allVectors.filter(({ name }) => name === 'v2-ten-of-twelve');
    const counts = ['1/10', '9/12', '10/11', '10/13', '11/12', '12/12', '1/12', '10/20'];
    const bodies = counts.map((count) => vector.body.replace('10/12', count));
    for (const body of bodies) t.throws(() => ours(body, vector), { code: 'signature' });
    const { cluster, canonicalRequest: request, nonce } = vector;
    const questions = bodies.map((body) => ({ publicKey, cluster, request, nonce, body }));
    if (!pythonSkipReason) t.same(new Set(pythonVerdicts(questions)), new Set(['signature']));
  });

  t.test('for trees of many sizes the three sign the same', { skip: pythonSkipReason }, async (t) => {
    const { digest, claim, commitment } = receiptOf(singleVector);
    const trees = [2, 5, 8, 33].map((size) =>
      Array.from({ length: size }, (_, n): Statement => {
        const [nonce, request] = [n % 2 ? null : 'A'.repeat(16), `GET /api/v1/block/${n}`];
        const issuedAt = NOW_MS + n;
        return { cluster: CLUSTER, request, status: 200, slot: n, commitment, claim, digest, issuedAt, nonce };
      }),
    );
    const receipts = trees.flatMap((statements) => signBatch(statements, key));
    const signed = trees.flatMap((statements) => signWithNodeCrypto(seed, statements));
    t.same(signed, receipts);
    t.same(pythonReceipts(seed, trees), receipts);
  });
});

t.test('signature-backends', async (t) => {
  const seed = randomBytes(32);
  const honestKey = publicBytesOf(parsePrivateKey(seed.toString('hex')));
  const [identity = Buffer.alloc(0), torsion = Buffer.alloc(0), ...otherTorsion] = SMALL_ORDER;
  const nonce = littleEndianInteger(randomBytes(31)) + 1n;

  const result = '{"lamports":1}';
  const statement: Statement = {
    cluster: CLUSTER,
    request: 'GET /api/v1/slot',
    status: 200,
    slot: 42,
    commitment: 'finalized',
    claim: 'exact/1',
    digest: digestOf(result),
    issuedAt: NOW_MS,
    nonce: null,
  };

  /** Creates a body under a key, with any signature that its hostile owner makes of the tree head. */
  function question(publicKey: Uint8Array, signHead: (head: Buffer) => Uint8Array): VerifyRequest {
    const name = bs58.encode(publicKey);
    const head = Buffer.from(treeHeadText(1, leafHash(formatStatement(name, statement))));
    const sig = Buffer.from(signHead(head)).toString('hex');
    const kid = digestOf(publicKey).slice(0, 16);
    const members = { v: 1, kid, ...statement, size: 1, index: 0, path: [], sig } as const;
    const receipt = formatReceipt(members, members);
    const { cluster, request, slot } = statement;
    const body = formatSignedBody(result, slot, receipt);
    return { publicKey: name, cluster, request, nonce: null, body };
  }

  const judge = (verify: Verifier, { publicKey, body, ...expected }: VerifyRequest): string =>
    verificationOutcome(verify, body, { ...expected, publicKeys: [publicKey] });

  const back: Readonly<Record<string, Verifier>> = {
    portable: verifyReceipt,
    'portable, remembering': createVerifier(),
    openssl: createVerifier({ isSignature: isOpensslSignature }),
  };

  const by = (r: Uint8Array, times = 0n, key: Uint8Array = honestKey): VerifyRequest =>
    question(key, (head) =>
      withUnreducedScalar(craftSignature(seed, key, head, r, r === NON_CANONICAL_IDENTITY ? 0n : nonce), times),
    );

  const CASES: readonly (readonly [what: string, VerifyRequest, verdict: string])[] = [
    ['honest', by(commitmentTo(nonce, identity)), 'holds'],
    ...[torsion, ...otherTorsion].map(
      (point) => ['R plus torsion', by(commitmentTo(nonce, point)), 'signature'] as const,
    ),
    ...[1n, 2n, 7n].map((times) => [`S + ${times}L`, by(commitmentTo(nonce, identity), times), 'signature'] as const),
    ['R in a second spelling', by(NON_CANONICAL_IDENTITY), 'signature'],
    ['R of small order', by(torsion), 'signature'],
    ['R no point', by(Buffer.alloc(32, 2)), 'signature'],
    ['nothing but zeros', question(honestKey, () => Buffer.alloc(64)), 'signature'],
    ...SMALL_ORDER.map((key) => {
      const signed = question(key, () => Buffer.concat([identity, Buffer.alloc(32)])); // fits every message whose challenge the order divides
      return ['a key of small order', signed, 'weak-key'] as const;
    }),
    ['a key with torsion', by(commitmentTo(nonce, identity), 0n, withTorsion(honestKey, torsion)), 'weak-key'],
    ['a key in a second spelling', question(NON_CANONICAL_IDENTITY, () => Buffer.alloc(64)), 'weak-key'],
  ];

  for (const [name, verify] of Object.entries(back)) {
    t.test(`${name}: a hostile signer finds nothing on which verifiers differ`, async (t) => {
      for (const [what, input, expected] of CASES) t.equal(judge(verify, input), expected, what);
    });
  }

  t.test(
    'Python and openssl: a hostile signer finds nothing on which verifiers differ',
    { skip: pythonSkipReason },
    async (t) => {
      const verdicts = pythonVerdicts(CASES.map(([, input]) => input));
      t.same(
        verdicts,
        CASES.map(([, , expected]) => expected),
      );
    },
  );

  t.test('whatever is added to R and S, the two libraries agree, and accept only the honest signature', async (t) => {
    const one = fc.record({
      nonce: fc.bigInt({ min: 1n, max: 2n ** 250n }),
      torsion: fc.nat(7),
      times: fc.bigInt({ min: 0n, max: 7n }),
      head: fc.uint8Array({ minLength: 90, maxLength: 90 }),
      flip: fc.option(fc.nat(511)),
    });
    fc.assert(
      fc.property(one, ({ nonce, torsion, times, head, flip }) => {
        const r = commitmentTo(nonce, SMALL_ORDER[torsion] ?? identity);
        const signature = withUnreducedScalar(craftSignature(seed, honestKey, head, r, nonce), times);
        if (flip !== null) signature[flip >> 3] = (signature[flip >> 3] ?? 0) ^ (1 << (flip & 7));
        const isHonest = torsion === 0 && times === 0n && flip === null;
        return [isSignature, isOpensslSignature].every((check) => check(signature, head, honestKey) === isHonest);
      }),
      { numRuns: 100, examples: [[{ nonce: 1n, torsion: 0, times: 0n, head: new Uint8Array(90), flip: null }]] },
    );
    t.pass();
  });
});

t.test('verify-attacks', async (t) => {
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
      ['its request is changed to the one that was sent', 'signature', replaceOnce(weak, 'balance/two', 'balance/one')],
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
    'a key is accepted that nobody should trust': [
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
      fc.property(query, query, (sent, answered) => {
        const request = spell([...answered].sort().reverse());
        const [text = ''] = sealAnswers(signer, [{ ...answer, request: canonicalRequestLine(request) }]);
        const said = fault(text, { request: spell(sent) });
        return said === (meaning(sent) === meaning(answered) ? 'holds' : 'request');
      }),
      { numRuns: 100 },
    );
    t.pass();
  });
});

t.test('verify-bit-flips', async (t) => {
  const signer = newSigner();
  const answer: UnsealedAnswer = {
    request: 'GET /api/v1/balance/9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM?commitment=finalized',
    slot: 296_410_233,
    commitment: 'finalized',
    claim: 'observed',
    nonce: 'n0nce-of_16-char',
    result: '{"lamports":9007199254740993,"name":"☃ snowman"}',
  };
  const others = Array.from({ length: 63 }, (_, slot): UnsealedAnswer => ({ ...answer, slot }));
  const [text = ''] = sealAnswers(signer, [answer, ...others]);
  const body = Buffer.from(text);
  const receiptAt = body.lastIndexOf('{');

  /** The fault of a well-formed receipt with one changed member. */
  const FAULT_OF: Readonly<Partial<Record<keyof Receipt, ReceiptFault>>> = {
    kid: 'unknown-key',
    cluster: 'cluster',
    request: 'request',
    status: 'status',
    slot: 'envelope', // it differs from the one next to the result
    digest: 'digest',
    nonce: 'nonce',
  };

  /** Returns the expected fault of a flip in the receipt. */
  function faultOf(flipped: string): ReceiptFault {
    const receipt = parseReceipt(flipped);
    const honest = parseReceipt(receiptTextIn(text));
    if (receipt === undefined || honest === undefined) return 'malformed';
    const height = inclusionPath(buildMerkleTree(Array(receipt.size).fill('')), receipt.index).length;
    if (height !== honest.path.length) return 'path';
    const members = Object.keys(honest) as (keyof Receipt)[]; // all that a receipt has
    const changed = members.find((name) => String(receipt[name]) !== String(honest[name]));
    return (changed && FAULT_OF[changed]) ?? 'signature';
  }

  /** Returns the expected fault of a flip at this byte. */
  function expectedFault(flipped: Buffer, at: number): ReceiptFault {
    if (!Buffer.from(flipped.toString()).equals(flipped)) return 'utf8';
    if (at === body.length - 1) return 'envelope';
    if (at >= receiptAt) return faultOf(flipped.subarray(receiptAt, -1).toString());
    const resultAt = '{"result":'.length;
    return at >= resultAt && at < resultAt + Buffer.byteLength(answer.result) ? 'digest' : 'envelope';
  }

  // `npm run check -- receipts` flips any of their bits.
  t.test(
    `the lowest and another bit of each of ${body.length} bytes, flipped, is refused for what it spoils`,
    async (t) => {
      const verify = createVerifier({ isSignature: isOpensslSignature });
      const { request, nonce } = answer;
      const expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request, nonce };
      t.equal(verificationOutcome(verify, body, expected), 'holds');
      t.ok(body.length >= 1024);
      const wrong: string[] = [];
      const faults = new Set<string>();
      const flips = [...body.entries()].flatMap(([at, byte]) =>
        [1, 1 << (at % 8)].map((bit) => [at, byte ^ bit] as const),
      );
      for (const [at, byte] of flips) {
        const flipped = Buffer.from(body);
        flipped[at] = byte;
        const fault = verificationOutcome(verify, flipped, expected);
        if (fault !== expectedFault(flipped, at)) wrong.push(`byte ${at}: ${fault}, not ${expectedFault(flipped, at)}`);
        faults.add(fault);
      }
      t.same(wrong, []);
      t.equal(faults.size, 11, [...faults].join(' '));
    },
  );
});

t.test('verify-receipt', async (t) => {
  const signer = newSigner();
  const answer: UnsealedAnswer = {
    request: 'GET /api/v1/search?page=2&q=caf%C3%A9',
    slot: 42,
    commitment: 'finalized',
    claim: 'exact',
    nonce: null,
    result: '{"lamports":9007199254740993,"name":"{\\"slot\\":1} ☃"}',
  };
  const other = { ...answer, request: 'GET /api/v1/slot', commitment: 'processed', claim: 'observed' } as const;
  const [first = '', bound = ''] = sealAnswers(signer, [answer, { ...other, nonce: 'A'.repeat(16) }]);
  const expected: Expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request: answer.request };

  const fault = (body: string | Uint8Array, different: Partial<Expected> = {}): string =>
    verificationOutcome(verifyReceipt, body, { ...expected, ...different });

  t.test('a body proves its result, slot and all other members', async (t) => {
    const { result, slot, receipt } = verifyReceipt(first, expected);
    t.equal(result, answer.result);
    t.equal(slot, 42);
    t.match(receipt, { commitment: 'finalized', claim: 'exact/1', issuedAt: NOW_MS, nonce: null, size: 2, index: 0 });
  });

  t.test('every expectation must be met', async (t) => {
    const nextKey = newSigner().publicKey;
    const cluster = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
    t.equal(fault(first, { cluster }), 'cluster');
    t.throws(() => verifyReceipt(first, { ...expected, cluster }), {
      message: `the receipt is not valid: cluster (the answer is about the cluster ${CLUSTER}, not ${cluster})`,
    });
    t.equal(fault(first, { request: 'GET /api/v1/search?q=caf%C3%A9' }), 'request');
    t.equal(fault(first, { request: 'SUB /api/v1/search?q=caf%C3%A9&page=2' }), 'request');
    t.equal(fault(first, { nonce: 'A'.repeat(16) }), 'nonce', 'requested with a nonce, answered without');
    t.equal(fault(bound, { request: other.request }), 'nonce', "somebody else's answer");
    t.equal(fault(bound, { request: other.request, nonce: 'B'.repeat(16) }), 'nonce');
    t.equal(fault(bound, { request: other.request, nonce: 'A'.repeat(16) }), 'holds');
    t.equal(fault(first, { publicKeys: [nextKey] }), 'unknown-key');
    t.equal(fault(first, { publicKeys: [] }), 'unknown-key');
    t.equal(fault(first, { publicKeys: [nextKey, signer.publicKey] }), 'holds');
  });

  t.test('a request may be spelled in any equivalent way', async (t) => {
    for (const target of [
      '/api/v1/search?q=caf%c3%a9&page=2',
      '/api/v1/search?q=café&&page=%32#top',
      'https://gateway.example/base/api/v1/search?page=2&q=caf%C3%A9',
    ])
      t.equal(fault(first, { request: `GET ${target}` }), 'holds', target);
  });

  t.test('an invalid argument is no fault of the body', async (t) => {
    const verify = (different: Partial<Expected>) => () => verifyReceipt(first, { ...expected, ...different });
    t.throws(verify({ request: '/api/v1/slot' }), TypeError);
    t.throws(verify({ request: 'POST /api/v1/rpc' }), TypeError);
    t.throws(verify({ request: 'GET /api/v1/search?q=%zz' }), { code: 'invalid_query' });
    t.throws(verify({ publicKeys: ['0OIl'] }), TypeError);
  });

  t.test('the fewest operators can be demanded; version 1 counts as one', async (t) => {
    for (const { body, cluster, canonicalRequest: request, nonce } of allVectors) {
      const agreed = Number(/"agreed":"(\d+)/.exec(body)?.[1] ?? 1);
      const expected = { publicKeys: [testVectors.publicKey], cluster, request, nonce };
      t.ok(verifyReceipt(body, { ...expected, minAgreed: agreed }));
      t.throws(() => verifyReceipt(body, { ...expected, minAgreed: agreed + 1 }), { code: 'agreed' });
    }
  });

  t.test('age is checked by the time that is passed in', async (t) => {
    const at = (nowMs: number, maxAgeMs?: number) =>
      fault(first, { time: maxAgeMs === undefined ? { nowMs } : { nowMs, maxAgeMs } });
    t.equal(at(NOW_MS - 4_999), 'holds');
    t.equal(at(NOW_MS - 5_000), 'holds');
    t.equal(at(NOW_MS - 5_001), 'future');
    t.equal(at(NOW_MS + 60_000, 60_000), 'holds');
    t.equal(at(NOW_MS + 60_001, 60_000), 'stale');
    t.equal(at(NOW_MS * 2), 'holds', 'no limit, no age');
    t.equal(fault(first, { minSlot: 42 }), 'holds');
    t.equal(fault(first, { minSlot: 43 }), 'old-slot');
  });

  t.test('of several faults the first is reported', async (t) => {
    const notFound = replaceOnce(first, '"status":200', '"status":404');
    let wrong: Expected = { cluster: 'x', request: 'GET /api/v1/x', nonce: 'x', publicKeys: [], minSlot: 99 };
    const faults = [fault(replaceOnce(notFound, '9007199254740993', '1'), wrong), fault(notFound, wrong)];
    const { cluster, request, publicKeys } = expected;
    for (const mended of [{}, { cluster }, { request }, { nonce: null }, { publicKeys }, { minSlot: 0 }]) {
      wrong = { ...wrong, ...mended };
      faults.push(fault(first, wrong));
    }
    t.same(faults, ['digest', 'status', 'cluster', 'request', 'nonce', 'unknown-key', 'old-slot', 'holds']);
  });

  t.test('a body cut, joined or made of anything else throws nothing but a ReceiptError', async (t) => {
    const cut = fc.tuple(fc.nat({ max: first.length }), fc.nat({ max: first.length }), fc.string());
    fc.assert(
      fc.property(cut, ([from, to, between]) => {
        const body = first.slice(0, from) + between + first.slice(to);
        return body === first || fault(body) !== 'holds';
      }),
      { numRuns: 2000 },
    );
    t.pass();
  });
});

t.test('receipt-mutants', async (t) => {
  t.test('of 4,000 mutated receipts none is accepted, and every check rejects some', async (t) => {
    const faults = rejectMutants({ numRuns: 4000 });
    for (const fault of [
      'envelope',
      'malformed',
      'digest',
      'status',
      'request',
      'unknown-key',
      'path',
      'signature',
    ] as const)
      t.ok((faults.get(fault) ?? 0) > 0, `${fault}: ${faults.get(fault)}`);
  });
});
