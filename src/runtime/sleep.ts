import type { Clock } from '../domain/clock.ts';

/** Resolves after `ms` milliseconds. */
export const sleep = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
