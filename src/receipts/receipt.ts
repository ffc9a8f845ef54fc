import type { Statement } from './statement.ts';

/** A statement with the signature that proves who made it. */
export interface Receipt extends Statement {
  readonly v: 1;
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
 * The whole grammar, one line per member. It has no `{` after the first byte, which is how a receipt is found in a
 * body.
 */
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

/** Formats a receipt. Order and spelling of the members are part of the format. */
export function formatReceipt(r: Receipt): string {
  const nonce = r.nonce === null ? 'null' : `"${r.nonce}"`;
  const path = r.path.length === 0 ? '' : `"${r.path.join('","')}"`;
  return `{"v":1,"kid":"${r.kid}","cluster":"${r.cluster}","request":"${r.request}","status":${r.status},"slot":${r.slot},"commitment":"${r.commitment}","claim":"${r.claim}","digest":"${r.digest}","issuedAt":${r.issuedAt},"nonce":${nonce},"size":${r.size},"index":${r.index},"path":[${path}],"sig":"${r.sig}"}`;
}

/** Parses the output of {@link formatReceipt}; returns undefined for any other text. */
export function parseReceipt(text: string): Receipt | undefined {
  if (!GRAMMAR.test(text)) return undefined;
  const receipt = JSON.parse(text) as Receipt; // the grammar allows these members only, each of its type
  const { slot, issuedAt, size, index } = receipt;
  const inRange = Number.isSafeInteger(slot) && Number.isSafeInteger(issuedAt) && size <= MAX_SIZE && index < size;
  return inRange ? receipt : undefined;
}
