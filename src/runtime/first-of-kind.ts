/** As many kinds as are told; one that never ends would fill the memory, and the log. */
const MOST_KINDS = 100;

/**
 * Lets only the first defect of each kind through, told apart by where in the code it was thrown: what is read again
 * and again fails again and again.
 */
export function firstOfKind<T>(tell: (subject: T, defect: unknown) => void): (subject: T, defect: unknown) => void {
  const told = new Set<string>();
  return (subject, defect) => {
    const kind = kindOf(defect);
    if (told.has(kind) || told.size === MOST_KINDS) return;
    told.add(kind);
    tell(subject, defect);
  };
}

/** The error's name and the first line of its stack. */
function kindOf(defect: unknown): string {
  if (!(defect instanceof Error)) return typeof defect;
  return `${defect.name} ${/\n\s*at (.+)/.exec(defect.stack ?? '')?.[1] ?? ''}`;
}
