/** Compares two values for a sort in which the lower one comes first. */
export const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
