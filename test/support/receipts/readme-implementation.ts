import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { VerifyRequest } from './python-implementation.ts';

const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8'); // from dist/test/support/receipts

/** The verifier in Python that the README contains. */
export const [, readmeVerifierSource = ''] = /^```python\n(.*?)^```$/ms.exec(readme) ?? [];

/** Runs it on a body; returns the result, or why it is refused. */
export function runReadmeVerifier({ publicKey, cluster, request, nonce, body }: VerifyRequest): string {
  const args = ['-c', readmeVerifierSource, publicKey, cluster, request, ...(nonce === null ? [] : [nonce])];
  const { stdout, stderr } = spawnSync('python3', args, { input: body, encoding: 'utf8' });
  return (stdout || stderr).trim();
}
