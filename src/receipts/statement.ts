import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';

/** The first line of every statement, and the first word of every head: what the key's signatures are about. */
const DOMAIN_SEPARATOR = 'proof-of-serve/v1';

/**
 * `exact`: the result is a pure function of the ledger at this slot and commitment, so two that differ prove a lie.
 * `observed`: what the gateway saw.
 */
export type Claim = 'exact' | 'observed';

/** The revision of the result schema. It moves whenever the same data could give other result bytes. */
export const RESULT_REVISION = 1;

/** What a receipt says: this was the answer to that request. Every text is ASCII without line ends. */
export interface Statement {
  /** The cluster's genesis hash, base58. */
  readonly cluster: string;
  /** The canonical request, `GET /api/v1/…`. */
  readonly request: string;
  readonly status: number;
  readonly slot: Slot;
  readonly commitment: Commitment;
  readonly claim: `${Claim}/${number}`;
  /** SHA-256 of the result's bytes, lower-case hex. */
  readonly digest: string;
  /** When the statement was made, in whole milliseconds since the epoch. */
  readonly issuedAt: number;
  /** What the caller sent to make the answer its own, or null. */
  readonly nonce: string | null;
}

/** Whether a text may stand as a nonce in a statement. */
export const isNonce = (text: string): boolean => /^[\w-]{16,64}$/.test(text);

/** The leaf data: eleven lines, a field each, so that no two statements share a text. */
export const formatStatement = (publicKey: string, statement: Statement): string =>
  `${DOMAIN_SEPARATOR}\n${publicKey}\n${statement.cluster}\n${statement.request}\n${statement.status}\n${statement.slot}\n${statement.commitment}\n${statement.claim}\n${statement.digest}\n${statement.issuedAt}\n${statement.nonce ?? '-'}\n`;

/** The signed message. The size is in it because a path alone fits trees of several sizes. */
export const treeHeadText = (size: number, root: string): string => `${DOMAIN_SEPARATOR} tree\n${size}\n${root}\n`;
