import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CLUSTER, freshSigner, seal } from './sealed.ts';
import { vectors } from './vectors.ts';

const script = fileURLToPath(new URL('../../../test/receipt/verify-receipt.py', import.meta.url));
const runs = (command: string, flag: string): boolean => spawnSync(command, [flag]).status === 0;
const skip = !(runs('python3', '--version') && runs('openssl', 'version')) && 'needs python3 and openssl';

/** What the verifier in another language says: its exit code, and the result or the fault. */
function judge(body: string, publicKey: string, cluster: string, request: string, nonce: string | null) {
  const args = [script, publicKey, cluster, request, '-', ...(nonce === null ? [] : [nonce])];
  const { status, stdout, stderr } = spawnSync('python3', args, { input: body, encoding: 'utf8' });
  return { status, said: (stdout || stderr).trim() };
}

t.test('a verifier in another language accepts the vectors', { skip }, async (t) => {
  for (const { body, cluster, canonicalRequest, nonce, resultHex } of vectors.vectors) {
    const said = Buffer.from(resultHex, 'hex').toString();
    t.same(judge(body, vectors.publicKey, cluster, canonicalRequest, nonce), { status: 0, said });
  }
});

t.test('it accepts what is signed here and refuses what is changed', { skip }, async (t) => {
  const signer = freshSigner();
  const request = 'GET /api/v1/slot';
  const answer = { request, slot: 7, commitment: 'processed', claim: 'observed', nonce: null, result: '7' } as const;
  const body = seal(signer, Array(5).fill(answer))[4] ?? '';
  const judged = (text: string) => judge(text, signer.publicKey, CLUSTER, request, null);
  t.same(judged(body), { status: 0, said: '7' });
  t.same(judged(body.replace('"result":7', '"result":8')), { status: 1, said: 'refused: digest' });
  t.same(judged(body.replace('processed', 'finalized')), { status: 1, said: 'refused: signature' });
  t.same(judged(body.replace('"size":5', '"size":9')), { status: 1, said: 'refused: path' });
});
