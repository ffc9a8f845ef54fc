import {
  answerInFrame,
  canonicalRequestLine,
  FAULT_EXPLANATIONS,
  parseSignedBody,
  parseTrustedKey,
  type Receipt,
  ReceiptError,
  type ReceiptFault,
  verifyReceipt,
  versionOf,
} from '../../client/verify/index.ts';
import { shorten } from '../format/figures.ts';
import {
  explainAgreed,
  explainBatch,
  explainClaim,
  explainCluster,
  explainCommitment,
  explainIssuedAt,
  explainPrevious,
} from './explanations.ts';

/** The values that the user expects. An empty one is not compared with the receipt. */
export interface VerificationInput {
  readonly publicKey: string;
  readonly cluster: string;
  readonly request: string;
  readonly nonce: string;
  /** The fewest operators that must have given the result, as digits. */
  readonly minAgreed: string;
}

/**
 * The status of a line. `proven`: signed, and as the user expects. `signed`: signed, but the user gave no expected value.
 * `unproven`: not verified. `wrong`: the verification failed here.
 */
export type LineStatus = 'proven' | 'signed' | 'unproven' | 'wrong';

/** One line of the signed statement. */
export interface StatementLine {
  readonly name: string;
  readonly value: string;
  readonly explanation: string;
  readonly status: LineStatus;
}

/** The result of verifying a pasted text. */
export interface VerificationReport {
  /** The verdict; `open` if the user gave no key. */
  readonly verdict: 'proven' | 'refused' | 'open';
  /** The verdict in a word or two. */
  readonly headline: string;
  readonly explanation: string;
  /** The lines of the statement, in its order; none if the text has no receipt. */
  readonly lines: readonly StatementLine[];
  /** The signed text of the result; null unless it is proven. */
  readonly result: string | null;
}

/** The line that each fault is about; the other faults are about the whole text. */
const LINE_OF_FAULT: Readonly<Partial<Record<ReceiptFault, string>>> = {
  digest: 'digest',
  status: 'status',
  cluster: 'cluster',
  request: 'request',
  nonce: 'nonce',
  agreed: 'agreed',
  'unknown-key': 'key',
  'weak-key': 'key',
  path: 'signature',
  signature: 'signature',
};

/** Returns the answer in a text. Throws TypeError for several: a verdict is about one. */
function answerIn(text: string): string {
  const [answer = withoutField(text), ...others] = text.split('\n').map(withoutField).filter(isAnswer);
  if (others.length > 0) throw new TypeError(`These are ${others.length + 1} answers: paste one at a time.`);
  return answerInFrame(answer);
}

/** Returns an answer without the blanks and the name that the stream prints before it. */
const withoutField = (line: string): string => line.trim().replace(/^data: ?/, '');

/** Returns whether a line is a whole answer. */
const isAnswer = (line: string): boolean => line.startsWith('{') && line.endsWith('}') && line.includes('"receipt":');

/**
 * Verifies a body or an account push, line by line. `nowMs` is only displayed, never compared. Throws TypeError or
 * GatewayError if the user's input is not a key, a request or one answer.
 */
export function verifyText(text: string, input: VerificationInput, nowMs: number): VerificationReport {
  const body = answerIn(text);
  const request = input.request === '' ? '' : canonicalRequestLine(input.request);
  if (input.publicKey !== '') parseTrustedKey(input.publicKey);
  try {
    const { receipt } = parseSignedBody(body);
    const lines = statementLines(receipt, { ...input, request }, nowMs);
    if (input.publicKey === '') {
      const explanation = 'The receipt is about this result. Enter a key that you trust to verify who signed it.';
      return {
        verdict: 'open',
        headline: 'Signed, but by whom?',
        explanation,
        lines: lines.map((line) => ({ ...line, status: 'unproven' as const })),
        result: null,
      };
    }
    return verifyStatement(body, receipt, { ...input, request }, lines);
  } catch (thrown) {
    if (!(thrown instanceof ReceiptError)) throw thrown;
    return refused(thrown.code, []);
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
      minAgreed: Number(input.minAgreed || 1),
    });
    const said = `The key ${shorten(input.publicKey)} said this, to this request, at slot ${receipt.slot}.`;
    const agreed = receipt.agreed === undefined ? '' : ` ${explainAgreed(receipt.agreed)}`;
    const explanation = `${said}${agreed} Compare the lines marked “signed” yourself.`;
    return { verdict: 'proven', headline: 'Proven', explanation, lines, result };
  } catch (thrown) {
    const code = thrown instanceof ReceiptError ? thrown.code : 'request'; // not a request line at all
    const failedLine = LINE_OF_FAULT[code];
    const unprovenLines = lines.map(
      (line): StatementLine => ({ ...line, status: line.name === failedLine ? 'wrong' : 'unproven' }),
    );
    return refused(code, unprovenLines);
  }
}

/** The faults of a text that somebody has changed after it was signed. */
const FORGED: ReadonlySet<ReceiptFault> = new Set(['digest', 'signature', 'path']);

const refused = (fault: ReceiptFault, lines: readonly StatementLine[]): VerificationReport => ({
  verdict: 'refused',
  headline: FORGED.has(fault) ? 'Forged' : 'Not proven',
  explanation: FAULT_EXPLANATIONS[fault],
  lines,
  result: null,
});

/** Returns the lines of a statement whose receipt is valid. */
function statementLines(receipt: Receipt, input: VerificationInput, nowMs: number): StatementLine[] {
  const statusOf = (expected: string): LineStatus => (expected === '' ? 'signed' : 'proven');
  const { cluster, request, slot, agreed, nonce, previous } = receipt;
  const withNonce = 'Made for this nonce: it did not exist before the request.';
  const withoutNonce = 'Made for no nonce: it may have been sent before, and to others.';
  const rows: readonly (readonly [name: string, value: string, explanation: string, status: LineStatus])[] = [
    ['format', `proof-of-serve/v${versionOf(receipt)}`, 'A statement about an answer, and nothing else.', 'proven'],
    ['key', input.publicKey, 'The holder of this key signs the following.', statusOf(input.publicKey)],
    ['cluster', cluster, explainCluster(cluster), statusOf(input.cluster)],
    ['request', request, 'The request that was answered.', statusOf(input.request)],
    ['status', String(receipt.status), 'The request succeeded.', 'proven'],
    ['slot', String(slot), 'The result holds at this slot.', 'signed'],
    ['commitment', receipt.commitment, explainCommitment(receipt.commitment), 'signed'],
    ['claim', receipt.claim, explainClaim(receipt.claim), 'signed'],
    ...(agreed === undefined ? [] : [['agreed', agreed, explainAgreed(agreed), statusOf(input.minAgreed)] as const]),
    ['digest', receipt.digest, 'SHA-256 of the result: no byte of it was changed.', 'proven'],
    ['issued', String(receipt.issuedAt), explainIssuedAt(receipt.issuedAt, nowMs), 'signed'],
    ['nonce', nonce ?? '-', nonce === null ? withoutNonce : withNonce, statusOf(input.nonce)],
    ...(agreed === undefined ? [] : [['previous', previous ?? '-', explainPrevious(previous), 'signed'] as const]),
    ['signature', receipt.sig, explainBatch(receipt), 'proven'],
  ];
  return rows.map(([name, value, explanation, status]) => ({ name, value, explanation, status }));
}
