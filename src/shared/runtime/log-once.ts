/** The most sites reported. An unbounded number would fill the memory and the log. */
const MAX_ERROR_SITES = 100;

/**
 * Wraps `report` so that it is called only for the first error of each site in the code: what is read periodically
 * fails periodically.
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

/** Returns the error's name and the first line of its stack, or its message where it has no stack. */
function errorSiteOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return `${error.name} ${/\n\s*at (.+)/.exec(error.stack ?? '')?.[1] ?? error.message}`;
}
