import { type CommonFields, type Statement, versionOf } from './statement.ts';

/** A statement with the signature that proves who made it. */
export interface Receipt extends Statement {
  readonly v: 1 | 2;
  /** First 8 bytes of the public key's SHA-256, hex. Only a hint that selects among keys already trusted. */
  readonly kid: string;
  /** The number of statements signed together. */
  readonly size: number;
  /** The index of this statement among them. */
  readonly index: number;
  /** RFC 9162 inclusion path from leaf to root, hex. */
  readonly path: readonly string[];
  /** Ed25519 signature of the tree head, hex. */
  readonly sig: string;
}

/**
 * Returns the whole grammar, one line per member. It has no `{` after the first byte, which is how a receipt is found in a
 * body.
 */
const grammarOf = (version: 1 | 2): RegExp =>
  new RegExp(
    `^\\{${[
      `"v":${version}`,
      '"kid":"[0-9a-f]{16}"',
      '"cluster":"[1-9A-HJ-NP-Za-km-z]{32,44}"',
      '"request":"(?:GET|SUB|POST) \\/[!#-[\\]-z|}~ ]{1,2040}"',
      '"status":[1-5]\\d\\d',
      '"slot":(?:0|[1-9]\\d{0,15})',
      '"commitment":"(?:processed|confirmed|finalized)"',
      '"claim":"(?:exact|observed)\\/[1-9]\\d{0,8}"',
      ...(version === 2 ? ['"agreed":"[1-9]\\d?\\/[1-9]\\d?"'] : []),
      '"digest":"[0-9a-f]{64}"',
      '"issuedAt":(?:0|[1-9]\\d{0,15})',
      '"nonce":(?:null|"[\\w-]{16,64}")',
      ...(version === 2 ? ['"previous":(?:null|"[0-9a-f]{64}")'] : []),
      '"size":[1-9]\\d{0,4}',
      '"index":(?:0|[1-9]\\d{0,4})',
      '"path":\\[(?:"[0-9a-f]{64}"(?:,"[0-9a-f]{64}"){0,15})?\\]',
      '"sig":"[0-9a-f]{128}"',
    ].join(',')}\\}$`,
  );

const GRAMMARS = [grammarOf(1), grammarOf(2)];

const MAX_SIZE = 65_536;

/** What the receipts of one signature have in common besides their statements. */
type Signature = Pick<Receipt, 'kid' | 'size' | 'sig'>;

/** The parts of receipts before the request, the digest, the nonce and the index, and behind the path. */
type ReceiptParts = readonly [
  beforeRequest: string,
  beforeDigest: string,
  beforeNonce: string,
  beforeIndex: string,
  afterPath: string,
];

/** Formats what receipts have in common. */
export const formatReceiptParts = (r: CommonFields, { kid, size, sig }: Signature): ReceiptParts => [
  `{"v":${versionOf(r)},"kid":"${kid}","cluster":"${r.cluster}","request":"`,
  `","status":${r.status},"slot":${r.slot},"commitment":"${r.commitment}","claim":"${r.claim}",${r.agreed === undefined ? '' : `"agreed":"${r.agreed}",`}"digest":"`,
  `","issuedAt":${r.issuedAt},"nonce":`,
  `,"size":${size},"index":`,
  `],"sig":"${sig}"}`,
];

/** The proof that a statement is among those that were signed together. */
type Inclusion = Pick<Receipt, 'index' | 'path'>;

/** Formats a receipt of these parts. Order and spelling of the members are part of the format. */
export function formatReceiptOf(
  [beforeRequest, beforeDigest, beforeNonce, beforeIndex, afterPath]: ReceiptParts,
  { request, agreed, digest, nonce, previous = null }: Statement,
  { index, path }: Inclusion,
): string {
  const ofEvent = agreed === undefined ? '' : `,"previous":${textOrNull(previous)}`;
  const pathText = path.length === 0 ? '' : `"${path.join('","')}"`;
  return `${beforeRequest}${request}${beforeDigest}${digest}${beforeNonce}${textOrNull(nonce)}${ofEvent}${beforeIndex}${index},"path":[${pathText}${afterPath}`;
}

const textOrNull = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

/** Parses the output of {@link formatReceiptOf}; returns undefined for any other text. */
export function parseReceipt(text: string): Receipt | undefined {
  if (!GRAMMARS.some((grammar) => grammar.test(text))) return undefined;
  const receipt = JSON.parse(text) as Receipt; // the grammar allows these members only, each of its type
  const { slot, issuedAt, size, index, agreed = '1/1' } = receipt;
  const [gave = 0, read = 0] = agreed.split('/').map(Number);
  const inRange = Number.isSafeInteger(slot) && Number.isSafeInteger(issuedAt) && size <= MAX_SIZE && index < size;
  return inRange && gave <= read ? receipt : undefined;
}
