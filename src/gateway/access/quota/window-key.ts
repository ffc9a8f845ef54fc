/** What is counted by: an address, a site or a name, each of its own type. */
export type WindowKey = number | bigint | string;

export const textOfKey = (key: WindowKey): string =>
  typeof key === 'string' ? `k${key}` : typeof key === 'bigint' ? `6${key}` : `4${key}`;

export function keyOfText(text: string): WindowKey {
  const value = text.slice(1);
  return text[0] === 'k' ? value : text[0] === '6' ? BigInt(value) : Number(value);
}
