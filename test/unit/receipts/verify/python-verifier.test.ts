import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { pythonSkipReason } from '../../../support/receipts/python-implementation.ts';
import { CLUSTER, newSigner, sealAnswers } from '../../../support/receipts/sealed-answers.ts';

const script = fileURLToPath(new URL('../../../../../test/support/receipts/verify-receipt.py', import.meta.url));

/** Runs the Python verifier; returns its exit code, and the result or the fault. */
function judge(body: string, publicKey: string, cluster: string, request: string, nonce: string | null) {
  const args = [script, publicKey, cluster, request, '-', ...(nonce === null ? [] : [nonce])];
  const { status, stdout, stderr } = spawnSync('python3', args, { input: body, encoding: 'utf8' });
  return { status, said: (stdout || stderr).trim() };
}

t.test(
  'the Python verifier accepts receipts signed here and refuses changed ones',
  { skip: pythonSkipReason },
  async (t) => {
    const signer = newSigner();
    const request = 'GET /api/v1/slot';
    const answer = { request, slot: 7, commitment: 'processed', claim: 'observed', nonce: null, result: '7' } as const;
    const body = sealAnswers(signer, Array(5).fill(answer))[4] ?? '';
    const judged = (text: string) => judge(text, signer.publicKey, CLUSTER, request, null);
    t.same(judged(body), { status: 0, said: '7' });
    t.same(judged(body.replace('"result":7', '"result":8')), { status: 1, said: 'refused: digest' });
    t.same(judged(body.replace('processed', 'finalized')), { status: 1, said: 'refused: signature' });
    t.same(judged(body.replace('"size":5', '"size":9')), { status: 1, said: 'refused: path' });
  },
);
