/** As many kinds as are told; one that never ends would fill the memory, and the log. */
const MAX_ERROR_SITES = 100;

/**
 * Lets only the first defect of each kind through, told apart by where in the code it was thrown: what is read again
 * and again fails again and again.
 */
export function oncePerErrorSite<T>(
  report: (subject: T, error: unknown) => void,
): (subject: T, error: unknown) => void {
  const reported = new Set<string>();
  return (subject, error) => {
    const site = errorSiteOf(error);
    if (reported.has(site) || reported.size === MAX_ERROR_SITES) return;
    reported.add(site);
    report(subject, error);
  };
}

/** The error's name and the first line of its stack. */
function errorSiteOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${/\n\s*at (.+)/.exec(error.stack ?? '')?.[1] ?? ''}`;
}
