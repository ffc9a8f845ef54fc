/** Shortens a key or a genesis hash for people, who compare its ends. */
export const shortKey = (key: string): string => (key.length <= 12 ? key : `${key.slice(0, 4)}..${key.slice(-4)}`);
