import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VerifyRequest } from './python-implementation.ts';

/** The verifier in Python that the reference shows. */
export const exampleVerifierSource = readFileSync(
  new URL('../../../../test/examples/verify.py', import.meta.url), // from dist/test/support/receipts
  'utf8',
);

/** Runs the one in JavaScript on a body; returns the result, or why it is refused. */
export function runExampleInJavaScript({ publicKey, cluster, request, nonce, body }: VerifyRequest): string {
  const script = fileURLToPath(new URL('../../../../test/examples/verify.mjs', import.meta.url)); // from dist/test/support/receipts
  const args = [script, publicKey, cluster, request, ...(nonce === null ? [] : [nonce])];
  const { stdout, stderr } = spawnSync(process.execPath, args, { input: body, encoding: 'utf8' });
  return (stdout || stderr).trim();
}

/** Runs it on a body; returns the result, or why it is refused. */
export function runExampleVerifier({ publicKey, cluster, request, nonce, body }: VerifyRequest): string {
  const args = ['-c', exampleVerifierSource, publicKey, cluster, request, ...(nonce === null ? [] : [nonce])];
  const { stdout, stderr } = spawnSync('python3', args, { input: body, encoding: 'utf8' });
  return (stdout || stderr).trim();
}
