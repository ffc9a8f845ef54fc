const LAMPORTS_PER_SOL = 1_000_000_000n;

export function toSol(lamports: bigint): string {
  const fraction = (lamports % LAMPORTS_PER_SOL).toString().padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? `${lamports / LAMPORTS_PER_SOL}` : `${lamports / LAMPORTS_PER_SOL}.${fraction}`;
}
