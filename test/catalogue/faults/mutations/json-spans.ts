export interface JsonSpan {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  /** Where the name of the member starts that has the value; undefined for an element and for the whole. */
  readonly nameStart: number | undefined;
}

/** The deepest values that are found. */
const MAX_DEPTH = 500;

/** Finds all values of a well-formed JSON text, the outer ones first. */
export function jsonSpans(text: string): readonly JsonSpan[] {
  const found: { start: number; end: number; depth: number; nameStart: number | undefined }[] = [];
  let at = 0;
  const skipSpace = (): void => {
    while (' \n\r\t'.includes(text[at] ?? '.')) at++;
  };
  const skipString = (): void => {
    at++;
    while (text[at] !== '"' && at < text.length) at += text[at] === '\\' ? 2 : 1;
    at++;
  };
  const readValue = (depth: number, nameStart: number | undefined): void => {
    const span = { start: at, end: at, depth, nameStart };
    found.push(span);
    const opening = text[at];
    if (depth === MAX_DEPTH)
      at = text.length; // a mutant of a mutant may nest without end
    else if (opening === '"') skipString();
    else if (opening === '{' || opening === '[') {
      at++;
      skipSpace();
      while (at < text.length && text[at] !== '}' && text[at] !== ']') {
        const memberStart = opening === '{' ? at : undefined;
        if (memberStart !== undefined) {
          skipString();
          skipSpace();
          at++; // the colon
          skipSpace();
        }
        readValue(depth + 1, memberStart);
        skipSpace();
        if (text[at] === ',') at++;
        skipSpace();
      }
      at++;
    } else while (at < text.length && !',}] \n\r\t'.includes(text[at] ?? '')) at++;
    span.end = at;
  };
  skipSpace();
  readValue(0, undefined);
  return found;
}
