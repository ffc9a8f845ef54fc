/** The shortest time between two changes of the page, in milliseconds. */
const PACE_MS = 400;
const REDUCED_PACE_MS = 1000;

/** Returns a function that schedules the work soon, and not more often than readers can follow. */
export function paced(work: () => void): () => void {
  const reduced = matchMedia('(prefers-reduced-motion: reduce)');
  let doneMs = Number.NEGATIVE_INFINITY;
  let isPending = false;
  return () => {
    if (isPending) return;
    isPending = true;
    const dueMs = doneMs + (reduced.matches ? REDUCED_PACE_MS : PACE_MS);
    setTimeout(
      () => {
        isPending = false;
        doneMs = performance.now();
        work();
      },
      Math.max(0, dueMs - performance.now()),
    );
  };
}
