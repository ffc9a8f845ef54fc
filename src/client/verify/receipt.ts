import type { Statement } from './statement.ts';

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

/** Formats a receipt. Order and spelling of the members are part of the format. */
export function formatReceipt(
  statement: Statement,
  { kid, size, index, path, sig }: Pick<Receipt, 'kid' | 'size' | 'index' | 'path' | 'sig'>,
): string {
  const { cluster, request, status, slot, commitment, claim } = statement;
  const { agreed, digest, issuedAt, nonce, previous = null } = statement;
  const target = `"cluster":"${cluster}","request":"${request}","status":${status}`;
  const state = `"slot":${slot},"commitment":"${commitment}","claim":"${claim}"`;
  const content = `"digest":"${digest}","issuedAt":${issuedAt},"nonce":${textOrNull(nonce)}`;
  const hashes = path.length === 0 ? '' : `"${path.join('","')}"`;
  const proof = `"size":${size},"index":${index},"path":[${hashes}],"sig":"${sig}"`;
  return agreed === undefined
    ? `{"v":1,"kid":"${kid}",${target},${state},${content},${proof}}`
    : `{"v":2,"kid":"${kid}",${target},${state},"agreed":"${agreed}",${content},"previous":${textOrNull(previous)},${proof}}`;
}

const textOrNull = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

/** Parses the output of {@link formatReceipt}; returns undefined for any other text. */
export function parseReceipt(text: string): Receipt | undefined {
  if (!GRAMMARS.some((grammar) => grammar.test(text))) return undefined;
  const receipt = JSON.parse(text) as Receipt; // the grammar allows these members only, each of its type
  const { slot, issuedAt, size, index, agreed = '1/1' } = receipt;
  const [gave = 0, read = 0] = agreed.split('/').map(Number);
  const inRange = Number.isSafeInteger(slot) && Number.isSafeInteger(issuedAt) && size <= MAX_SIZE && index < size;
  return inRange && gave <= read ? receipt : undefined;
}
