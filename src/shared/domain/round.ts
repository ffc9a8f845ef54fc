/** Rounds an estimate to a fixed number of decimal places, half away from zero. Never used on amounts. */
export function round(value: number, places: number): number {
  const scale = 10 ** places;
  return Math.round(value * scale) / scale;
}
