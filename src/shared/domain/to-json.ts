/** JSON text that is written verbatim, such as a number from a node's response. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** JSON that is so long that it stays bytes: as a text it would hold the event loop. It is a whole result, and no part of one. */
export class LongJson {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/**
 * Writes compact JSON in which no integer loses a digit: `bigint` as digits, {@link RawJson} verbatim.
 * Members keep the order of the object, so equal values give equal bytes. A member that is `undefined` is left out, an
 * element that is becomes null.
 */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return value.every(isText) ? JSON.stringify(value) : `[${value.map(toJson).join(',')}]`;
  let members = '';
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) members += `${members === '' ? '' : ','}${quoted(name)}:${toJson(member)}`;
  }
  return `{${members}}`;
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** The most names that are remembered: those of all results are a few hundred. */
const MAX_NAMES = 1000;
const quotedNames = new Map<string, string>();

function quoted(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (quotedNames.size < MAX_NAMES) quotedNames.set(name, text);
  return text;
}
