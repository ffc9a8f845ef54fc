import { InvalidArgumentError } from 'commander';
import { canonicalRequestLine, parseTrustedKey } from '../../client/verify/index.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';

/** Collects the values of a repeatable option. */
export const repeatable =
  (validate: (text: string) => string) =>
  (text: string, before: readonly string[] = []): readonly string[] => [...before, validate(text)];

/** Validates an option; its errors are usage errors. */
const validated =
  (validate: (text: string) => unknown) =>
  (text: string): string => {
    try {
      validate(text);
      return text;
    } catch (thrown) {
      throw new InvalidArgumentError(reasonOf(thrown));
    }
  };

export const publicKey = validated(parseTrustedKey);
export const request = validated(canonicalRequestLine);
export const genesisHash = validated((text) =>
  ensureMatches(text, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'it is not a genesis hash'),
);
export const nonce = validated((text) =>
  ensureMatches(text, /^[\w-]{16,64}$/, 'a nonce is 16 to 64 letters, digits, - or _'),
);

function ensureMatches(text: string, form: RegExp, otherwise: string): void {
  if (!form.test(text)) throw new InvalidArgumentError(otherwise);
}

/** Validates a number of seconds. */
export function seconds(text: string): number {
  ensureMatches(text, /^\d{1,9}$/, 'it is not a whole number of seconds');
  return Number(text);
}

/** Validates a slot. */
export function slot(text: string): number {
  ensureMatches(text, /^(0|[1-9]\d{0,15})$/, 'it is not a slot: a decimal number');
  return Number(text);
}

/** Validates a number of operators. */
export function operatorCount(text: string): number {
  ensureMatches(text, /^[1-9]\d?$/, 'it is not a number of operators from 1 to 99');
  return Number(text);
}
