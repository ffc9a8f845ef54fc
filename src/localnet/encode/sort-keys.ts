import { RawJson } from '../../domain/to-json.ts';

/**
 * The same value with the members of every object ordered by name. A node answers requests in this order, and shows
 * parsed data so everywhere; its notifications keep the order of its structs.
 */
export function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}
