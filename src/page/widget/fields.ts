import type { Snapshot } from './snapshot.ts';

const UNKNOWN = '–';

interface Field {
  readonly label: string;
  /** Whether the value moves so fast that an old one is worth nothing. */
  readonly isFast?: boolean;
  readonly format: (snapshot: Snapshot, figure: (value: number | null) => string) => string;
}

/** The fields that the attribute `fields` can name. */
export const FIELDS: Readonly<Record<string, Field>> = {
  slot: { label: 'Slot', format: ({ slot }, figure) => figure(slot) },
  height: { label: 'Block height', format: ({ blockHeight }, figure) => figure(blockHeight) },
  tps: { label: 'TPS, no votes', isFast: true, format: ({ nonVoteTps }, figure) => figure(nonVoteTps) },
  'total-tps': { label: 'TPS', isFast: true, format: ({ tps }, figure) => figure(tps) },
  'slot-time': { label: 'Slot time', format: ({ slotTimeMs }, figure) => withUnit(figure(slotTimeMs), 'ms') },
  fee: {
    label: 'Priority fee',
    isFast: true,
    format: ({ priorityFee }, figure) => withUnit(figure(priorityFee), 'µLam/CU'),
  },
  epoch: {
    label: 'Epoch',
    format: ({ epoch, epochProgress }, figure) => `${figure(epoch)} · ${Math.floor(epochProgress * 100)} %`,
  },
};

const withUnit = (figure: string, unit: string): string => (figure === UNKNOWN ? figure : `${figure} ${unit}`);

/** Returns the names of known fields in the text of the attribute, each once. */
export function fieldNames(text: string | null): readonly string[] {
  const names = (text ?? '').split(/[\s,]+/).filter((name) => Object.hasOwn(FIELDS, name));
  return names.length > 0 ? [...new Set(names)] : ['slot', 'tps', 'slot-time', 'epoch'];
}

/** A rate whose last values can be drawn. */
export type Rate = 'nonVoteTps' | 'tps';

const RATES: Readonly<Record<string, Rate>> = { tps: 'nonVoteTps', 'total-tps': 'tps' };

/** Returns the first rate among the fields. */
export const rateOf = (names: readonly string[]): Rate | undefined =>
  names.map((name) => RATES[name]).find((rate) => rate !== undefined);

/** Returns the text of a field; of one that moves fast none if its value is old. */
export function fieldText(
  name: string,
  snapshot: Snapshot | undefined,
  isOld: boolean,
  numbers: Pick<Intl.NumberFormat, 'format'>,
): string {
  const field = FIELDS[name];
  if (field === undefined || snapshot === undefined || (isOld && field.isFast)) return UNKNOWN;
  return field.format(snapshot, (value) => (value === null ? UNKNOWN : numbers.format(Math.round(value))));
}
