import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Question } from './python-implementation.ts';

const manual = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8'); // from dist/test/support/receipts

/** The verifier in Python that the manual shows. */
export const [, readmeVerifier = ''] = /^```python\n(.*?)^```$/ms.exec(manual) ?? [];

/** What it says of a body: the result, or why it is refused. */
export function readmeVerdict({ publicKey, cluster, request, nonce, body }: Question): string {
  const args = ['-c', readmeVerifier, publicKey, cluster, request, ...(nonce === null ? [] : [nonce])];
  const { stdout, stderr } = spawnSync('python3', args, { input: body, encoding: 'utf8' });
  return (stdout || stderr).trim();
}
