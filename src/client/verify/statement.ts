import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/**
 * The first line of every statement and the first word of every tree head: it separates these signatures from all
 * others made with the key.
 */
const DOMAIN_SEPARATOR = 'proof-of-serve/v1';

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
  /** SHA-256 of the result's bytes, lower-case hex. */
  readonly digest: string;
  /** Time of the statement, in whole milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Nonce that the caller sent to bind the statement to their request, or null. */
  readonly nonce: string | null;
}

/** Returns true if a text is a valid nonce. */
export const isNonce = (text: string): boolean => /^[\w-]{16,64}$/.test(text);

/** What statements have in common that differ at most in request, digest and nonce. */
export type CommonFields = Omit<Statement, 'request' | 'digest' | 'nonce'>;

/** Returns true if two statements differ in nothing but request, digest and nonce. */
export const haveCommonFields = (one: CommonFields, other: CommonFields): boolean =>
  one.slot === other.slot &&
  one.commitment === other.commitment &&
  one.claim === other.claim &&
  one.issuedAt === other.issuedAt &&
  one.status === other.status &&
  one.cluster === other.cluster;

/** The parts of statements before the request, before the digest, before the nonce, and behind it. */
type StatementParts = readonly [beforeRequest: string, beforeDigest: string, beforeNonce: string, afterNonce: string];

/** Formats what statements have in common: all but three of eleven lines, one field each, so that no two have the same text. */
export const formatStatementParts = (publicKey: string, fields: CommonFields): StatementParts => [
  `${DOMAIN_SEPARATOR}\n${publicKey}\n${fields.cluster}\n`,
  `\n${fields.status}\n${fields.slot}\n${fields.commitment}\n${fields.claim}\n`,
  `\n${fields.issuedAt}\n`,
  '\n',
];

/** Formats the leaf data of a statement. */
export const formatStatement = (publicKey: string, statement: Statement): string =>
  formatStatementOf(formatStatementParts(publicKey, statement), statement);

/** Formats the leaf data of these parts, as {@link formatStatement} does. */
export const formatStatementOf = (
  [beforeRequest, beforeDigest, beforeNonce, afterNonce]: StatementParts,
  { request, digest, nonce }: Statement,
): string => `${beforeRequest}${request}${beforeDigest}${digest}${beforeNonce}${nonce ?? '-'}${afterNonce}`;

/** Formats the signed message. It includes the size because a path alone fits trees of several sizes. */
export const treeHeadText = (size: number, root: string): string => `${DOMAIN_SEPARATOR} tree\n${size}\n${root}\n`;
