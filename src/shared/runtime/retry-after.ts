/** Parses a `Retry-After` header (RFC 9110, 10.2.3), in seconds or as a date, to milliseconds; null without one. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | null {
  const value = header?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
