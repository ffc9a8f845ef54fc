import type { Snapshot } from '../../client/index.ts';
import { formatSpan } from '../format/figures.ts';

const UNKNOWN = '–';

/** A snapshot, and what the history of the network says of the last hour. */
export interface ShownSnapshot extends Snapshot {
  /** The share of the slots that had no block; null if it is not known. */
  readonly skippedShare?: number | null;
}

type Figure = (value: number | bigint | null, decimals?: number) => string;

interface Field {
  readonly label: string;
  /** Whether the value moves so fast that an old one is worth nothing. */
  readonly isFast?: boolean;
  readonly format: (snapshot: ShownSnapshot, figure: Figure) => string;
}

/** The fields that the attribute `fields` can name. A unit stands in the label: a value has the width of its digits. */
export const FIELDS: Readonly<Record<string, Field>> = {
  slot: { label: 'Slot', format: ({ slot }, figure) => figure(slot) },
  height: { label: 'Block height', format: ({ blockHeight }, figure) => figure(blockHeight) },
  tps: { label: 'TPS, no votes', isFast: true, format: ({ nonVoteTps }, figure) => figure(nonVoteTps) },
  'total-tps': { label: 'TPS', isFast: true, format: ({ tps }, figure) => figure(tps) },
  'slot-time': { label: 'Slot time, ms', format: ({ slotTimeMs }, figure) => figure(slotTimeMs) },
  fee: { label: 'Fee, µLam/CU', isFast: true, format: ({ priorityFee }, figure) => figure(priorityFee) },
  epoch: {
    label: 'Epoch',
    format: ({ epoch, epochProgress }, figure) => `${figure(epoch)} · ${Math.floor(epochProgress * 100)}%`,
  },
  'epoch-end': {
    label: 'Epoch ends in',
    format: ({ slotsInEpoch, slotIndex, slotTimeMs }) =>
      slotTimeMs === null ? UNKNOWN : formatSpan((slotsInEpoch - slotIndex) * slotTimeMs),
  },
  'skip-rate': {
    label: 'Skipped, 1 h',
    format: ({ skippedShare = null }, figure) =>
      skippedShare === null ? UNKNOWN : `${figure(skippedShare * 100, 1)}%`,
  },
};

const DEFAULT_FIELDS: readonly string[] = ['slot', 'tps', 'slot-time', 'epoch'];

/** Returns the names in the text of the attribute, each once, apart by whether there is such a field. */
export function fieldNames(text: string | null): {
  readonly known: readonly string[];
  readonly unknown: readonly string[];
} {
  const names = [...new Set((text ?? '').split(/[\s,]+/).filter((name) => name !== ''))];
  const known = names.filter((name) => Object.hasOwn(FIELDS, name));
  const unknown = names.filter((name) => !Object.hasOwn(FIELDS, name));
  return { known: known.length > 0 ? known : DEFAULT_FIELDS, unknown };
}

export type Rate = 'nonVoteTps' | 'tps';

const RATES: Readonly<Record<string, Rate>> = { tps: 'nonVoteTps', 'total-tps': 'tps' };

export const rateOf = (names: readonly string[]): Rate | undefined =>
  names.map((name) => RATES[name]).find((rate) => rate !== undefined);

/** Returns the text of a field; of one that moves fast none if its value is old. */
export function fieldText(
  name: string,
  snapshot: ShownSnapshot | undefined,
  isOld: boolean,
  numbers: Pick<Intl.NumberFormat, 'format'>,
): string {
  const field = FIELDS[name];
  if (field === undefined || snapshot === undefined || (isOld && field.isFast)) return UNKNOWN;
  return field.format(snapshot, (value, decimals = 0) =>
    value === null ? UNKNOWN : numbers.format(Number(Number(value).toFixed(decimals))),
  );
}
