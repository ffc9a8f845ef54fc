import type { Statement } from './statement.ts';

/** A statement with the proof that the holder of a key made it. */
export interface Receipt extends Statement {
  readonly v: 1;
  /** First 8 bytes of the public key's SHA-256, hex. Only a hint: it picks among keys that are trusted already. */
  readonly kid: string;
  /** How many statements were signed together. */
  readonly size: number;
  /** The place of this one among them. */
  readonly index: number;
  /** RFC 9162 inclusion path from leaf to root, hex. */
  readonly path: readonly string[];
  /** Ed25519 signature of the head, hex. */
  readonly sig: string;
}

/** The whole grammar, a member each. It holds no `{` past the first byte, which is how a receipt is found in a body. */
const GRAMMAR = new RegExp(
  `^\\{${[
    '"v":1',
    '"kid":"[0-9a-f]{16}"',
    '"cluster":"[1-9A-HJ-NP-Za-km-z]{32,44}"',
    '"request":"(?:GET|SUB|POST) \\/[!#-[\\]-z|}~ ]{1,2040}"',
    '"status":[1-5]\\d\\d',
    '"slot":(?:0|[1-9]\\d{0,15})',
    '"commitment":"(?:processed|confirmed|finalized)"',
    '"claim":"(?:exact|observed)\\/[1-9]\\d{0,8}"',
    '"digest":"[0-9a-f]{64}"',
    '"issuedAt":(?:0|[1-9]\\d{0,15})',
    '"nonce":(?:null|"[\\w-]{16,64}")',
    '"size":[1-9]\\d{0,4}',
    '"index":(?:0|[1-9]\\d{0,4})',
    '"path":\\[(?:"[0-9a-f]{64}"(?:,"[0-9a-f]{64}"){0,15})?\\]',
    '"sig":"[0-9a-f]{128}"',
  ].join(',')}\\}$`,
);

const MAX_SIZE = 65_536;

/** Writes a receipt as it travels. Order and spelling of the members are part of the format. */
export function formatReceipt(r: Receipt): string {
  const nonce = r.nonce === null ? 'null' : `"${r.nonce}"`;
  const path = r.path.length === 0 ? '' : `"${r.path.join('","')}"`;
  return `{"v":1,"kid":"${r.kid}","cluster":"${r.cluster}","request":"${r.request}","status":${r.status},"slot":${r.slot},"commitment":"${r.commitment}","claim":"${r.claim}","digest":"${r.digest}","issuedAt":${r.issuedAt},"nonce":${nonce},"size":${r.size},"index":${r.index},"path":[${path}],"sig":"${r.sig}"}`;
}

/** Reads what {@link formatReceipt} writes, and gives undefined for any other text. */
export function parseReceipt(text: string): Receipt | undefined {
  if (!GRAMMAR.test(text)) return undefined;
  const receipt = JSON.parse(text) as Receipt; // the grammar admits these members only, each of its type
  const { slot, issuedAt, size, index } = receipt;
  const inRange = Number.isSafeInteger(slot) && Number.isSafeInteger(issuedAt) && size <= MAX_SIZE && index < size;
  return inRange ? receipt : undefined;
}
