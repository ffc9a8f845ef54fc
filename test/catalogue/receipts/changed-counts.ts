import { verifyReceipt } from '../../../src/client/verify/verify-receipt.ts';
import { exampleVerifiers, type RunVerifier } from '../../support/receipts/example-implementation.ts';
import { allVectors, testVectors } from '../../support/receipts/test-vectors.ts';

const COUNT = /"agreed":"(\d+)\/(\d+)"/;

/** The verifier of the SDK, of `/verify` and of the command line. */
const ours: RunVerifier = ({ publicKey, cluster, request, nonce, body }) => {
  try {
    return verifyReceipt(body, { publicKeys: [publicKey], cluster, request, nonce }).result;
  } catch (thrown) {
    return `refused: ${thrown instanceof Error ? thrown.message : ''}`;
  }
};

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
