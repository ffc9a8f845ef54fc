import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { python, pythonSkipReason, type VerifyRequest } from './python-implementation.ts';

const sourceOf = (name: string): string => fileURLToPath(new URL(`../../../../test/examples/${name}`, import.meta.url)); // from dist/test/support/receipts

/** The verifier in Python that the reference shows. */
export const exampleVerifierSource = readFileSync(sourceOf('verify.py'), 'utf8');

/** Runs a verifier on a body; returns the result, or why it is refused. */
export type RunVerifier = (request: VerifyRequest) => string;

const runnerOf =
  (command: string, ...first: readonly string[]): RunVerifier =>
  ({ publicKey, cluster, request, nonce, body }) => {
    const args = [...first, publicKey, cluster, request, ...(nonce === null ? [] : [nonce])];
    const { stdout, stderr } = spawnSync(command, args, { input: body, encoding: 'utf8' });
    return (stdout || stderr).trim();
  };

export const runExampleVerifier = runnerOf(python, sourceOf('verify.py'));

export const runJavaScript = runnerOf(process.execPath, sourceOf('verify.mjs'));

/** Returns the verifiers of all languages that can run here, and the others with the reason. The one in Go is built in the folder. */
export function exampleVerifiers(folder: string): {
  readonly runs: Readonly<Record<string, RunVerifier>>;
  readonly skipped: readonly string[];
} {
  const program = join(folder, 'verify');
  const { error, stderr } = spawnSync('go', ['build', '-o', program, sourceOf('verify.go')], { encoding: 'utf8' });
  if (error === undefined && stderr !== '') throw new Error(stderr);
  return {
    runs: {
      JavaScript: runJavaScript,
      ...(!pythonSkipReason && { Python: runExampleVerifier }),
      ...(error === undefined && { Go: runnerOf(program) }),
    },
    skipped: [...(pythonSkipReason ? [`Python: ${pythonSkipReason}`] : []), ...(error ? ['Go: there is no Go'] : [])],
  };
}
