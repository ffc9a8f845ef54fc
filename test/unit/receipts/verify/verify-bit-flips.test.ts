import t from 'tap';
import { buildMerkleTree, inclusionPath } from '../../../../src/receipts/merkle-tree.ts';
import { parseReceipt, type Receipt } from '../../../../src/receipts/receipt.ts';
import { receiptTextIn } from '../../../../src/receipts/signed-body.ts';
import { isOpensslSignature } from '../../../../src/receipts/verify/openssl-signature.ts';
import type { ReceiptFault } from '../../../../src/receipts/verify/receipt-error.ts';
import { createVerifier } from '../../../../src/receipts/verify/verify-receipt.ts';
import { CLUSTER, newSigner, sealAnswers, type UnsealedAnswer } from '../../../support/receipts/sealed-answers.ts';
import { verificationOutcome } from '../verification-outcome.ts';

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

t.test(`each of the ${body.length * 8} bits of a body, flipped, is refused for what it spoils`, async (t) => {
  const verify = createVerifier({ isSignature: isOpensslSignature });
  const { request, nonce } = answer;
  const expected = { publicKeys: [signer.publicKey], cluster: CLUSTER, request, nonce };
  t.equal(verificationOutcome(verify, body, expected), 'holds');
  t.ok(body.length >= 1024);
  const wrong: string[] = [];
  const faults = new Set<string>();
  for (let bit = 0; bit < body.length * 8; bit++) {
    const at = bit >> 3;
    const flipped = Buffer.from(body);
    flipped[at] = (body[at] ?? 0) ^ (1 << (bit & 7));
    const fault = verificationOutcome(verify, flipped, expected);
    if (fault !== expectedFault(flipped, at)) wrong.push(`bit ${bit}: ${fault}, not ${expectedFault(flipped, at)}`);
    faults.add(fault);
  }
  t.same(wrong, []);
  t.equal(faults.size, 11, [...faults].join(' '));
});
