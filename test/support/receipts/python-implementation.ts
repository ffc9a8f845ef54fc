import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Statement } from '../../../src/client/verify/statement.ts';

const found = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });

/** The interpreter itself: `python3` may be a script that looks for it, which takes several times the CPU. */
export const python = found.stdout?.trim() || 'python3';

/** The reason to skip tests that need the implementation in Python; false where it runs. */
export const pythonSkipReason =
  !(found.status === 0 && spawnSync('openssl', ['version']).status === 0) && 'needs python3 and openssl';

export interface VerifyRequest {
  readonly publicKey: string;
  readonly cluster: string;
  readonly request: string;
  readonly nonce: string | null;
  readonly body: string | Uint8Array;
}

function runPython(name: string, input: string): string[] {
  const script = fileURLToPath(new URL(`../../../../test/support/receipts/${name}`, import.meta.url)); // from dist/test/support/receipts
  const { status, stdout, stderr } = spawnSync(python, [script], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trimEnd().split('\n');
}

/** Verifies each body with Python and openssl; returns `holds`, or the fault. */
export const pythonVerdicts = (questions: readonly VerifyRequest[]): string[] =>
  runPython(
    'verify-many-receipts.py',
    questions
      .map(({ publicKey, cluster, request, nonce, body }) =>
        JSON.stringify([publicKey, cluster, request, nonce, Buffer.from(body).toString('base64')]),
      )
      .join('\n'),
  );

/** Signs the statements of each tree together with Python and openssl and returns their receipts. `seed` is in hex. */
export const pythonReceipts = (seed: string, trees: readonly (readonly Statement[])[]): string[] =>
  runPython('sign-receipts.py', trees.map((statements) => JSON.stringify({ seed, statements })).join('\n'));
