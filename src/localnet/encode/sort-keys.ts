import { RawJson } from '../../shared/domain/to-json.ts';

/** A node sorts the members of answers, and of parsed data everywhere; its notifications keep the order of structs. */
export function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}
