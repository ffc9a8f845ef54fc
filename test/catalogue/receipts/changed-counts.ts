import { verifyReceipt } from '../../../src/client/verify/verify-receipt.ts';
import { exampleVerifiers, type RunVerifier } from '../../support/receipts/example-implementation.ts';
import { allVectors, hostileVectors, testVectors } from '../../support/receipts/test-vectors.ts';

const COUNT = /"agreed":"(\d+)\/(\d+)"/;

/** The verifier of the SDK, of `/verify` and of the command line. */
const ours: RunVerifier = ({ publicKey, cluster, request, nonce, body }) => {
  try {
    return verifyReceipt(body, { publicKeys: [publicKey], cluster, request, nonce }).result;
  } catch (thrown) {
    return `refused: ${thrown instanceof Error ? thrown.message : ''}`;
  }
};

/** Judges the published vectors, and the hostile ones; returns the verifiers that are wrong about one, each with its name. */
export function judgeVectors(folder: string): readonly string[] {
  const { publicKey } = testVectors;
  return Object.entries({ ours, ...exampleVerifiers(folder).runs }).flatMap(([language, run]) => [
    ...allVectors
      .filter(({ canonicalRequest: request, resultHex, ...vector }) => {
        return run({ ...vector, publicKey, request }) !== Buffer.from(resultHex, 'hex').toString();
      })
      .map(({ name }) => `${language}: ${name}`),
    ...hostileVectors
      .filter(({ fault, publicKey: key = publicKey, canonicalRequest: request, ...vector }) => {
        const verdict = run({ ...vector, publicKey: key, request });
        return language === 'ours' ? !verdict.startsWith('refused: ') : verdict !== `refused: ${fault}`;
      })
      .map(({ name }) => `${language}: ${name}`),
  ]);
}

/**
 * Changes the operators that agreed in bodies of version 2, `count` times. Returns for each verifier how many it refused, and
 * the reasons for which others could not run.
 */
export function refuseChangedCounts(folder: string, count: number) {
  const signed = allVectors.filter(({ body }) => COUNT.test(body));
  const changed = Array.from({ length: count }, (_, i) => {
    const { cluster, canonicalRequest: request, nonce, body } = signed[i % signed.length] ?? testVectors.vectors[0];
    const [, agreed, read] = COUNT.exec(body) ?? [];
    const by = 1 + Math.floor(i / signed.length);
    const [more, others] = i % 2 === 0 ? [Number(agreed) + by, Number(read) + by] : [Number(agreed), Number(read) + by];
    const forged = body.replace(COUNT, `"agreed":"${more}/${others}"`);
    return { publicKey: testVectors.publicKey, cluster, request, nonce, body: forged };
  });
  const { runs, skipped } = exampleVerifiers(folder);
  const refused = Object.entries({ ours, ...runs }).map(
    ([name, run]) => [name, changed.filter((request) => run(request).startsWith('refused: ')).length] as const,
  );
  return { refused, skipped };
}
