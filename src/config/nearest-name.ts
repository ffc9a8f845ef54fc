/** Names have nothing in common if more edits lie between them than this number, and than this part of the letters. */
export const FEW_EDITS = 2;
const MOST_OF_LETTERS = 0.4;

/** Returns the name in `known` with the smallest edit distance to `name`, which was most likely meant; undefined if none is near. */
export function nearestName(
  name: string,
  known: Iterable<string>,
  mostEdits = Math.max(FEW_EDITS, name.length * MOST_OF_LETTERS),
): string | undefined {
  let best: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return fewest <= mostEdits ? best : undefined;
}

/** Returns the Levenshtein distance: insertions, deletions and changes of letters. One row of the table is enough. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      const change = (row[column] ?? 0) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
