import * as z from 'zod';
import { readTables } from '../shared/runtime/files/read-tables.ts';
import { type ConfigLayer, isSection, mergeLayers, singleValueLayer, topLayerAt, valueAt } from './config-layers.ts';
import { SETTINGS, type Setting, settingOf } from './setting-names.ts';

const [table] = readTables(new URL('data/renamed-settings.tsv', import.meta.url), 'renamed');

/** The settings and sections under their former names, which are accepted until the next minor version. */
const RENAMES = (table?.rows ?? []).map(([from = '', to = '', factor]) => ({
  from: from.split('.'),
  to: to.split('.'),
  factor: factor === undefined ? undefined : Number(factor),
  isGroup: !SETTINGS.some(({ name }) => name === to),
}));

interface FormerSetting {
  readonly old: Setting;
  readonly present: Setting;
  readonly factor: number | undefined;
}

const FORMER_SETTINGS: readonly FormerSetting[] = RENAMES.flatMap(({ from, to, factor }) =>
  SETTINGS.filter(({ path }) => to.every((word, at) => path[at] === word)).map((present) => {
    const schema = factor === undefined ? present.schema : z.number();
    return { old: settingOf([...from, ...present.path.slice(to.length)], schema), present, factor };
  }),
);

export const findFormerSetting = (name: string): Setting | undefined =>
  FORMER_SETTINGS.find(({ old }) => old.name === name || old.env === name)?.old;

/** Returns a layer in which former names are replaced by the present ones; a value under the present name goes first. */
export function withPresentNames({ source, values }: ConfigLayer): ConfigLayer {
  const present = RENAMES.reduce((named, { from, to, factor = 1, isGroup }) => {
    const value = memberAt(named, from);
    if (value === undefined || (isGroup && !isSection(value))) return named; // refused under the name that it has
    const layer = singleValueLayer(source, to, typeof value === 'number' ? value * factor : value);
    return mergeLayers(layer.values, without(named, from));
  }, values);
  return { source, values: present };
}

/** Puts layers of one rank, such as the environment, in the order in which a present name goes over a former one. */
export const formerNamesFirst = (layers: readonly ConfigLayer[]): readonly ConfigLayer[] => {
  const isPresent = (layer: ConfigLayer): boolean => formerNamesIn(layer).length === 0;
  return layers.toSorted((a, b) => Number(isPresent(a)) - Number(isPresent(b)));
};

/** Describes the former names in layers, each with what it counts as, or which value goes over it. */
export const describeFormerNames = (layers: readonly ConfigLayer[]): readonly string[] =>
  layers.flatMap((layer, rank) =>
    formerNamesIn(layer).map(({ old, present, factor }) => {
      const unit = factor === undefined ? '' : `, ${factor} times the value`;
      const upper = topLayerAt(layers.slice(rank), present.path);
      const outcome = upper === undefined ? '' : `, and ${present.name} (${upper.source}) counts in its place`;
      return `${old.name} (${layer.source}) is called ${present.name} now${unit}${outcome}; the next minor version refuses the old name`;
    }),
  );

const formerNamesIn = ({ values }: ConfigLayer): readonly FormerSetting[] =>
  FORMER_SETTINGS.filter(({ old }) => memberAt(values, old.path) !== undefined);

const memberAt = (values: unknown, path: readonly string[]): unknown => {
  const section = valueAt(values, path.slice(0, -1));
  return isSection(section) ? valueAt(section, path.slice(-1)) : undefined;
};

function without(values: unknown, [name = '', ...below]: readonly string[]): unknown {
  const { [name]: member, ...others } = isSection(values) ? values : {};
  return below.length === 0 ? others : { ...others, [name]: without(member, below) };
}
