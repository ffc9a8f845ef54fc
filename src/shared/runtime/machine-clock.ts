import type { Clock } from '../domain/clock.ts';
import { systemClock } from './system-clock.ts';

/** The clock of all processes of the machine: its monotonic time goes on over their ends. */
export const machineClock: Clock = {
  ...systemClock,
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
};
