/** Longest pause that is obeyed: with a longer one the node would be out of use until the next start. */
const MAX_SECONDS = 3600;

/** Parses a `Retry-After` header (RFC 9110, 10.2.3), seconds or a date, to whole seconds. Returns 1 without one. */
export function retryAfterSeconds(header: string | undefined, nowMs: number): number {
  const value = header?.trim() ?? '';
  const seconds = /^[0-9]+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Math.min(Math.max(seconds || 1, 1), MAX_SECONDS); // a date that can't be read is NaN
}
