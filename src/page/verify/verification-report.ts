import { answerInFrame } from '../../receipts/push-frame.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import { parseSignedBody } from '../../receipts/verify/parse-signed-body.ts';
import { ReceiptError, type ReceiptFault } from '../../receipts/verify/receipt-error.ts';
import { canonicalRequestLine } from '../../receipts/verify/request-line.ts';
import { parseTrustedKey } from '../../receipts/verify/trusted-key.ts';
import { verifyReceipt } from '../../receipts/verify/verify-receipt.ts';
import {
  explainBatch,
  explainClaim,
  explainCluster,
  explainCommitment,
  explainIssuedAt,
  FAULT_EXPLANATIONS,
} from './explanations.ts';

/** What a person knows. What is left empty is not compared with the receipt. */
export interface VerificationInput {
  readonly publicKey: string;
  readonly cluster: string;
  readonly request: string;
  readonly nonce: string;
}

/** `proven`: signed, and as the person said. `signed`: signed, but the person did not say. `claimed`: no proof. */
export type LineStatus = 'proven' | 'signed' | 'claimed' | 'wrong';

/** One line of what was signed. */
export interface StatementLine {
  readonly name: string;
  readonly value: string;
  readonly explanation: string;
  readonly status: LineStatus;
}

/** What comes of a pasted text. */
export interface VerificationReport {
  /** `open`: without a key nothing can be said. */
  readonly verdict: 'proven' | 'refused' | 'open';
  readonly explanation: string;
  /** Of the statement, in its order; none when the text holds no receipt. */
  readonly lines: readonly StatementLine[];
  /** The text that was signed; null unless it is proven. */
  readonly result: string | null;
}

/** The line in which each fault shows; the others show in the text as a whole. */
const LINE_OF_FAULT: Readonly<Partial<Record<ReceiptFault, string>>> = {
  digest: 'digest',
  status: 'status',
  cluster: 'cluster',
  request: 'request',
  nonce: 'nonce',
  'unknown-key': 'key',
  'weak-key': 'key',
  path: 'signature',
  signature: 'signature',
};

/**
 * Judges a body or an account push, line by line. `nowMs` is only told, never judged. Throws TypeError or GatewayError
 * when what the person says can't be a key or a request.
 */
export function verifyText(text: string, input: VerificationInput, nowMs: number): VerificationReport {
  const body = answerInFrame(text.trim());
  const request = input.request === '' ? '' : canonicalRequestLine(input.request);
  if (input.publicKey !== '') parseTrustedKey(input.publicKey);
  try {
    const { receipt } = parseSignedBody(body);
    const lines = statementLines(receipt, { ...input, request }, nowMs);
    if (input.publicKey === '') {
      const explanation =
        'The result is the one that the receipt speaks of. Who signed it only a key that you trust can tell.';
      return {
        verdict: 'open',
        explanation,
        lines: lines.map((line) => ({ ...line, status: 'claimed' })),
        result: null,
      };
    }
    return verifyStatement(body, receipt, { ...input, request }, lines);
  } catch (thrown) {
    if (!(thrown instanceof ReceiptError)) throw thrown;
    return { verdict: 'refused', explanation: FAULT_EXPLANATIONS[thrown.code], lines: [], result: null };
  }
}

function verifyStatement(
  body: string,
  receipt: Receipt,
  input: VerificationInput,
  lines: readonly StatementLine[],
): VerificationReport {
  try {
    const { result } = verifyReceipt(body, {
      publicKeys: [input.publicKey],
      cluster: input.cluster || receipt.cluster,
      request: input.request || receipt.request,
      nonce: input.nonce || receipt.nonce,
    });
    const explanation =
      'The holder of this key has signed every line. What is only marked “signed” is yours to compare.';
    return { verdict: 'proven', explanation, lines, result };
  } catch (thrown) {
    const code = thrown instanceof ReceiptError ? thrown.code : 'request'; // of a form in which nobody can ask
    const failedLine = LINE_OF_FAULT[code];
    const unprovenLines = lines.map(
      (line): StatementLine => ({ ...line, status: line.name === failedLine ? 'wrong' : 'claimed' }),
    );
    return { verdict: 'refused', explanation: FAULT_EXPLANATIONS[code], lines: unprovenLines, result: null };
  }
}

/** The lines as they stand when the proof holds. */
function statementLines(receipt: Receipt, input: VerificationInput, nowMs: number): StatementLine[] {
  const statusOf = (expected: string): LineStatus => (expected === '' ? 'signed' : 'proven');
  const { cluster, request, slot, nonce } = receipt;
  const withNonce = 'Made for this nonce: nobody could have had it ready before.';
  const withoutNonce = 'Made for no nonce: it may have been given to others, and before.';
  return [
    statementLine('format', 'proof-of-serve/v1', 'A statement about an answer, and nothing else.', 'proven'),
    statementLine('key', input.publicKey, 'The holder of this key says the following.', statusOf(input.publicKey)),
    statementLine('cluster', cluster, explainCluster(cluster), statusOf(input.cluster)),
    statementLine('request', request, 'This was asked.', statusOf(input.request)),
    statementLine('status', String(receipt.status), 'The request was answered.', 'proven'),
    statementLine('slot', String(slot), 'The result holds at this slot.', 'signed'),
    statementLine('commitment', receipt.commitment, explainCommitment(receipt.commitment), 'signed'),
    statementLine('claim', receipt.claim, explainClaim(receipt.claim), 'signed'),
    statementLine('digest', receipt.digest, 'SHA-256 of the result: not a byte of it was changed.', 'proven'),
    statementLine('issued', String(receipt.issuedAt), explainIssuedAt(receipt.issuedAt, nowMs), 'signed'),
    statementLine('nonce', nonce ?? '-', nonce === null ? withoutNonce : withNonce, statusOf(input.nonce)),
    statementLine('signature', receipt.sig, explainBatch(receipt), 'proven'),
  ];
}

const statementLine = (name: string, value: string, explanation: string, status: LineStatus): StatementLine => ({
  name,
  value,
  explanation,
  status,
});
