/** An amount that went from one party to another, in smallest units. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly mint: string;
  readonly amount: bigint;
  readonly decimals: number;
}

export interface Party {
  readonly address: string;
  readonly side: 'left' | 'right';
}

/** More parties, or more ribbons, are a table, not a picture. */
const MAX_PARTIES = 8;
const MAX_RIBBONS = 10;

/** Adds up the transfers of one token between the same two parties; those of a party to itself move nothing. */
export function summedTransfers(transfers: readonly Transfer[]): readonly Transfer[] {
  const sums = new Map<string, Transfer>();
  for (const transfer of transfers) {
    if (transfer.from === transfer.to || transfer.amount === 0n) continue;
    const key = `${transfer.from} ${transfer.to} ${transfer.mint}`;
    const { amount = 0n } = sums.get(key) ?? {};
    sums.set(key, { ...transfer, amount: amount + transfer.amount });
  }
  return [...sums.values()];
}

/**
 * Puts each party on a side, so that ribbons cross the middle: the first giver left, whoever trades with a party opposite to
 * it. Undefined if there are too many to be a picture, or two that trade would stand on one side.
 */
export function partiesOf(transfers: readonly Transfer[]): readonly Party[] | undefined {
  const sides = new Map<string, Party['side']>();
  const opposite = { left: 'right', right: 'left' } as const;
  for (const { from, to } of transfers) {
    const fromSide = sides.get(from) ?? opposite[sides.get(to) ?? 'right'];
    sides.set(from, fromSide);
    if (!sides.has(to)) sides.set(to, opposite[fromSide]);
  }
  const isPicture =
    sides.size > 0 &&
    sides.size <= MAX_PARTIES &&
    transfers.length <= MAX_RIBBONS &&
    transfers.every(({ from, to }) => sides.get(from) !== sides.get(to));
  return isPicture ? [...sides].map(([address, side]) => ({ address, side })) : undefined;
}

/** Returns what a party has got and given in all, by token: given amounts are negative. */
export function netOf(address: string, transfers: readonly Transfer[]): readonly Omit<Transfer, 'from' | 'to'>[] {
  const nets = new Map<string, Omit<Transfer, 'from' | 'to'>>();
  for (const { from, to, mint, amount, decimals } of transfers) {
    const change = to === address ? amount : from === address ? -amount : 0n;
    if (change === 0n) continue;
    nets.set(mint, { mint, decimals, amount: (nets.get(mint)?.amount ?? 0n) + change });
  }
  return [...nets.values()].filter(({ amount }) => amount !== 0n);
}
