import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/**
 * The start of the first line of every statement, before its version, and of every tree head: it separates these signatures
 * from all others made with the key.
 */
const DOMAIN = 'proof-of-serve/v';

/**
 * `exact`: the result is a pure function of the ledger at this slot and commitment, so two that differ prove a lie.
 * `observed`: the result is what the gateway saw.
 */
export type Claim = 'exact' | 'observed';

/**
 * The number in a claim until the same data give other result bytes; each such change increments it.
 * Results under different numbers may rightly differ, so they convict nobody.
 */
export const FIRST_CLAIM_NUMBER = 1;

/** The signed claim that this was the answer to that request. Every text is ASCII without line ends. */
export interface Statement {
  /** The cluster's genesis hash, base58. */
  readonly cluster: string;
  /** The canonical request, `GET /api/v1/…`. */
  readonly request: string;
  readonly status: number;
  readonly slot: Slot;
  readonly commitment: Commitment;
  readonly claim: `${Claim}/${number}`;
  /**
   * `2/3`: of three operators that were read, or had to be, two gave this result at this slot. Undefined in version 1, which a
   * gateway over one operator signs.
   */
  readonly agreed?: string | undefined;
  /** SHA-256 of the result's bytes, lower-case hex. */
  readonly digest: string;
  /** Time of the statement, in whole milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Nonce that the caller sent to bind the statement to their request, or null. */
  readonly nonce: string | null;
  /** In version 2 {@link eventText}'s digest of the event before this one, where events form a chain; otherwise null. */
  readonly previous?: string | null | undefined;
}

/** The version of a statement. Version 2 has two lines more: `agreed` and `previous`. */
export const versionOf = ({ agreed }: Pick<Statement, 'agreed'>): 1 | 2 => (agreed === undefined ? 1 : 2);

/** Returns the number of operators that gave the result, as far as the statement says. */
export const agreedIn = ({ agreed = '1' }: Pick<Statement, 'agreed'>): number => Number.parseInt(agreed, 10);

/** Returns true if a text is a valid nonce. */
export const isNonce = (text: string): boolean => /^[\w-]{16,64}$/.test(text);

/** Formats the leaf data of a statement: one field a line, so that no two have the same text. */
export function formatStatement(publicKey: string, statement: Statement): string {
  const { cluster, request, status, slot, commitment, claim, agreed, digest, issuedAt, nonce, previous } = statement;
  const answer = `${publicKey}\n${cluster}\n${request}\n${status}\n${slot}\n${commitment}\n${claim}\n`;
  const rest = `${digest}\n${issuedAt}\n${nonce ?? '-'}\n`;
  return agreed === undefined
    ? `${DOMAIN}1\n${answer}${rest}`
    : `${DOMAIN}2\n${answer}${agreed}\n${rest}${previous ?? '-'}\n`;
}

/**
 * Formats the signed message. It includes the size because a path alone fits trees of several sizes. Trees have one version:
 * their leaves may be statements of either.
 */
export const treeHeadText = (size: number, root: string): string => `${DOMAIN}1 tree\n${size}\n${root}\n`;

/** What of a statement the ledger decides, so that all gateways name an event alike. */
export type ChainedFields = Pick<Statement, 'cluster' | 'request' | 'slot' | 'commitment' | 'digest'>;

/** Formats the text by whose SHA-256 the next event names this one. */
export const eventText = ({ cluster, request, slot, commitment, digest }: ChainedFields): string =>
  `${DOMAIN}2 event\n${cluster}\n${request}\n${slot}\n${commitment}\n${digest}\n`;
