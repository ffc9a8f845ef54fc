import * as z from 'zod';
import { CLUSTER_CONSENSUSES } from '../../shared/domain/cluster-consensus.ts';
import type { EpochInfo } from '../../shared/domain/epoch-info.ts';
import type { NetworkSnapshot } from '../../shared/domain/network-snapshot.ts';
import { round } from '../../shared/domain/round.ts';
import type { Slot } from '../../shared/domain/slot.ts';

export const networkRow = z.strictObject({
  endedAt: z.int().describe("Unix milliseconds of the row's end"),
  slot: z.int().describe('The last slot of the row'),
  slots: z
    .int()
    .nonnegative()
    .describe('By how much the slot rose; 0 while the network stood still: then rates and fees are null'),
  slotTimeMs: z.number().nullable().describe("The mean time of a slot by the gateway's clock; null without a new slot"),
  skippedSlots: z.int().nullable().describe('The slots without a block; null where a row is one slot'),
  tps: z.number().nullable(),
  nonVoteTps: z.number().nullable(),
  priorityFee: z
    .strictObject({ low: z.bigint(), medium: z.bigint(), high: z.bigint() })
    .nullable()
    .describe('Micro-lamports for a compute unit'),
  health: z.enum(['ok', 'degraded']).describe('The worst of the row'),
  consensus: z.enum(CLUSTER_CONSENSUSES).nullable(),
  nodeVersion: z.string().nullable().describe('The version that a node named'),
});

export type NetworkRow = z.output<typeof networkRow>;

export interface Observation {
  readonly snapshot: NetworkSnapshot;
  readonly epoch: EpochInfo;
  /** Monotonic milliseconds. */
  readonly atMs: number;
  readonly nodeVersion: string | undefined;
}

/** A slot, and the moment at which it was first seen. */
export interface RowBound {
  readonly slot: Slot;
  /** Monotonic milliseconds. */
  readonly reachedMs: number;
  /** The newest information by which skipped slots are counted. */
  readonly epoch: EpochInfo;
}

export const boundOf = ({ snapshot: { slot }, epoch, atMs }: Observation, last?: RowBound): RowBound => ({
  slot: Math.max(slot, last?.slot ?? 0),
  reachedMs: last === undefined || slot > last.slot ? atMs : last.reachedMs,
  epoch,
});

/** A version as nodes write it: what else one sends is not kept. */
const VERSION = /^[\w.+-]{1,32}$/;

const NOTHING_MEASURED = { tps: null, nonVoteTps: null, priorityFeeLevels: null };

/** Describes the time between two bounds, the newest observation last. */
export function rowBetween(
  base: RowBound,
  end: RowBound,
  { snapshot, nodeVersion }: Observation,
  { endedAt, health }: Pick<NetworkRow, 'endedAt' | 'health'>,
): NetworkRow {
  const slots = end.slot - base.slot;
  const { consensus } = snapshot;
  // a frame that is repeated while the network stands still has the rates and fees of before
  const { tps, nonVoteTps, priorityFeeLevels: fees } = slots > 0 ? snapshot : NOTHING_MEASURED;
  const height = end.epoch.blockHeight - base.epoch.blockHeight;
  return {
    endedAt,
    slot: end.slot,
    slots,
    slotTimeMs: slots > 0 ? round((end.reachedMs - base.reachedMs) / slots, 1) : null,
    skippedSlots: Math.max(0, end.epoch.absoluteSlot - base.epoch.absoluteSlot - height),
    tps,
    nonVoteTps,
    priorityFee: fees && { low: fees.low, medium: fees.medium, high: fees.high },
    health,
    consensus,
    nodeVersion: nodeVersion !== undefined && VERSION.test(nodeVersion) ? nodeVersion : null,
  };
}

/** Joins rows into one for each `stepMs`, from the oldest to the newest. The newest ends with its last row: more may follow. */
export function joinRows(rows: readonly NetworkRow[], stepMs: number): NetworkRow[] {
  const groups = new Map<number, NetworkRow[]>();
  for (const row of rows) {
    const endedAt = Math.ceil(row.endedAt / stepMs) * stepMs;
    const group = groups.get(endedAt);
    if (group === undefined) groups.set(endedAt, [row]);
    else group.push(row);
  }
  const newestMs = rows.at(-1)?.endedAt ?? 0;
  return [...groups].flatMap(([endedAt, group]) => {
    const last = group.at(-1);
    return last === undefined ? [] : { ...last, ...sumOf(group), endedAt: Math.min(endedAt, newestMs) };
  });
}

/** Sums up what is counted over rows; the rest of a joined row is that of its last one. */
function sumOf(
  rows: readonly NetworkRow[],
): Pick<NetworkRow, 'slots' | 'slotTimeMs' | 'skippedSlots' | 'tps' | 'nonVoteTps' | 'priorityFee' | 'health'> {
  const sum = (of: (row: NetworkRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const slots = sum((row) => row.slots);
  const mean = (name: 'tps' | 'nonVoteTps'): number | null => {
    const known = rows.flatMap((row) => row[name] ?? []);
    return known.length === 0 ? null : round(known.reduce((total, each) => total + each, 0) / known.length, 1);
  };
  return {
    slots,
    slotTimeMs: slots > 0 ? round(sum((row) => (row.slotTimeMs ?? 0) * row.slots) / slots, 1) : null,
    skippedSlots: sum((row) => row.skippedSlots ?? 0),
    tps: mean('tps'),
    nonVoteTps: mean('nonVoteTps'),
    priorityFee: rows.findLast((row) => row.priorityFee !== null)?.priorityFee ?? null,
    health: rows.some((row) => row.health === 'degraded') ? 'degraded' : 'ok',
  };
}
