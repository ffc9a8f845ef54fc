const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/**
 * The steps between two times below a plot, in seconds. Each is at most twice the one before: uPlot chooses the first that has
 * room, and writes a time beyond the end of the plot where that step is longer than all that is shown. Its own steps leap
 * from one minute to five.
 */
export const TIME_STEPS: readonly number[] = [
  ...[1, 2, 4, 5, 10, 15, 30],
  ...[1, 2, 3, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 4].map((days) => days * DAY),
];
