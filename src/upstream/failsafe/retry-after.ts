/** A node that asks for a longer pause than this would be lost until the next start. */
const MAX_SECONDS = 3600;

/** The whole seconds that a `Retry-After` header asks for, as a number or as a date. Without one: 1. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number {
  const value = header?.trim() ?? '';
  const seconds = /^[0-9]+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Math.min(Math.max(seconds || 1, 1), MAX_SECONDS); // a date that can't be read is NaN
}
