import { answerInFrame } from '../../receipts/push-frame.ts';
import type { Receipt } from '../../receipts/receipt.ts';
import { parseSignedBody } from '../../receipts/verify/parse-signed-body.ts';
import { ReceiptError, type ReceiptFault } from '../../receipts/verify/receipt-error.ts';
import { canonicalRequestLine } from '../../receipts/verify/request-line.ts';
import { parseTrustedKey } from '../../receipts/verify/trusted-key.ts';
import { verifyReceipt } from '../../receipts/verify/verify-receipt.ts';
import { batchWords, claimWords, clusterWords, commitmentWords, FAULTS, timeWords } from './words.ts';

/** What a person knows. What is left empty is not compared with the receipt. */
export interface Known {
  readonly publicKey: string;
  readonly cluster: string;
  readonly request: string;
  readonly nonce: string;
}

/** `proven`: signed, and as the person said. `signed`: signed, but the person did not say. `claimed`: no proof. */
export type Standing = 'proven' | 'signed' | 'claimed' | 'wrong';

/** One line of what was signed. */
export interface Line {
  readonly name: string;
  readonly value: string;
  readonly words: string;
  readonly standing: Standing;
}

/** What comes of a pasted text. */
export interface Finding {
  /** `open`: without a key nothing can be said. */
  readonly verdict: 'proven' | 'refused' | 'open';
  readonly words: string;
  /** Of the statement, in its order; none when the text holds no receipt. */
  readonly lines: readonly Line[];
  /** The text that was signed; null unless it is proven. */
  readonly result: string | null;
}

/** The line in which each fault shows; the others show in the text as a whole. */
const LINE_OF: Readonly<Partial<Record<ReceiptFault, string>>> = {
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
export function judgeText(text: string, known: Known, nowMs: number): Finding {
  const body = answerInFrame(text.trim());
  const request = known.request === '' ? '' : canonicalRequestLine(known.request);
  if (known.publicKey !== '') parseTrustedKey(known.publicKey);
  try {
    const { receipt } = parseSignedBody(body);
    const lines = linesOf(receipt, { ...known, request }, nowMs);
    if (known.publicKey === '') {
      const words =
        'The result is the one that the receipt speaks of. Who signed it only a key that you trust can tell.';
      return { verdict: 'open', words, lines: lines.map((line) => ({ ...line, standing: 'claimed' })), result: null };
    }
    return prove(body, receipt, { ...known, request }, lines);
  } catch (thrown) {
    if (!(thrown instanceof ReceiptError)) throw thrown;
    return { verdict: 'refused', words: FAULTS[thrown.code], lines: [], result: null };
  }
}

function prove(body: string, receipt: Receipt, known: Known, lines: readonly Line[]): Finding {
  try {
    const { result } = verifyReceipt(body, {
      publicKeys: [known.publicKey],
      cluster: known.cluster || receipt.cluster,
      request: known.request || receipt.request,
      nonce: known.nonce || receipt.nonce,
    });
    const words = 'The holder of this key has signed every line. What is only marked “signed” is yours to compare.';
    return { verdict: 'proven', words, lines, result };
  } catch (thrown) {
    const code = thrown instanceof ReceiptError ? thrown.code : 'request'; // of a form in which nobody can ask
    const wrong = LINE_OF[code];
    const unproven = lines.map((line): Line => ({ ...line, standing: line.name === wrong ? 'wrong' : 'claimed' }));
    return { verdict: 'refused', words: FAULTS[code], lines: unproven, result: null };
  }
}

/** The lines as they stand when the proof holds. */
function linesOf(receipt: Receipt, known: Known, nowMs: number): Line[] {
  const asSaid = (said: string): Standing => (said === '' ? 'signed' : 'proven');
  const { cluster, request, slot, nonce } = receipt;
  const bound = 'Made for this nonce: nobody could have had it ready before.';
  const unbound = 'Made for no nonce: it may have been given to others, and before.';
  return [
    line('format', 'proof-of-serve/v1', 'A statement about an answer, and nothing else.', 'proven'),
    line('key', known.publicKey, 'The holder of this key says the following.', asSaid(known.publicKey)),
    line('cluster', cluster, clusterWords(cluster), asSaid(known.cluster)),
    line('request', request, 'This was asked.', asSaid(known.request)),
    line('status', String(receipt.status), 'The request was answered.', 'proven'),
    line('slot', String(slot), 'The result holds at this slot.', 'signed'),
    line('commitment', receipt.commitment, commitmentWords(receipt.commitment), 'signed'),
    line('claim', receipt.claim, claimWords(receipt.claim), 'signed'),
    line('digest', receipt.digest, 'SHA-256 of the result: not a byte of it was changed.', 'proven'),
    line('issued', String(receipt.issuedAt), timeWords(receipt.issuedAt, nowMs), 'signed'),
    line('nonce', nonce ?? '-', nonce === null ? unbound : bound, asSaid(known.nonce)),
    line('signature', receipt.sig, batchWords(receipt), 'proven'),
  ];
}

const line = (name: string, value: string, words: string, standing: Standing): Line => ({
  name,
  value,
  words,
  standing,
});
