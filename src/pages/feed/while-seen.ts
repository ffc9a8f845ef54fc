/** A tab that nobody sees for so long closes its line. */
const HIDDEN_MS = 60_000;

/** Calls `sleep` when the page was hidden for a minute, and `wake` when it is seen, comes back or is online again. */
export function whileSeen(wake: () => void, sleep: () => void): void {
  let timer: ReturnType<typeof setTimeout>;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(sleep, HIDDEN_MS);
    else wake();
  });
  for (const event of ['online', 'pageshow']) addEventListener(event, () => !document.hidden && wake());
}
