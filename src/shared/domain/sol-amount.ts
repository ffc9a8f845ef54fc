/** A SOL is 10^9 lamports. */
export const SOL_DECIMALS = 9;

export function toSol(lamports: bigint): string {
  const digits = lamports.toString().padStart(SOL_DECIMALS + 1, '0');
  const point = digits.length - SOL_DECIMALS;
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}
