/** Decodes a part of a URL. One with a stray percent sign stands for itself. */
export function decodeUri(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
