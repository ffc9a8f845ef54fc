export interface ConfigLayer {
  /** The source in the operator's words: a file, a variable, a flag. */
  readonly source: string;
  readonly values: unknown;
}

type Path = readonly PropertyKey[];
type Section = Readonly<Record<PropertyKey, unknown>>;

export const singleValueLayer = (source: string, path: readonly string[], value: unknown): ConfigLayer => ({
  source,
  values: path.reduceRight((inner, key) => ({ [key]: inner }), value),
});

/** Merges `upper` over `lower`: sections are merged, other values are replaced, lists too. */
export function mergeLayers(lower: unknown, upper: unknown): unknown {
  if (!isSection(lower) || !isSection(upper)) return upper;
  const members = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper))
    if (value !== undefined) members.set(key, mergeLayers(members.get(key), value));
  return Object.fromEntries(members); // defines its members, so that a key named __proto__ is a key like any other
}

/** Returns the last layer with a value at a path, whose value is in force. */
export const topLayerAt = (layers: readonly ConfigLayer[], path: Path): ConfigLayer | undefined =>
  layers.findLast(({ values }) => valueAt(values, path) !== undefined);

/** Returns the value at a path, or the last on the way to it: `"a"` for `upstreams.0.url` of `["a"]`. */
export const valueAt = (values: unknown, path: Path): unknown =>
  path.reduce((value, key) => (isObject(value) ? (Object.hasOwn(value, key) ? value[key] : undefined) : value), values);

const isObject = (value: unknown): value is Section => typeof value === 'object' && value !== null;

export const isSection = (value: unknown): value is Section => isObject(value) && !Array.isArray(value);
