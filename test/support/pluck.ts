export const pluck = <T, K extends keyof T>(items: readonly T[], name: K): T[K][] => items.map((item) => item[name]);
