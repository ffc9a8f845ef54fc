/** What one source says about the configuration: any part of its tree. */
export interface ConfigLayer {
  /** What the operator calls the source: a file, a variable, a flag. */
  readonly source: string;
  readonly values: unknown;
}

type Path = readonly PropertyKey[];
type Section = Readonly<Record<PropertyKey, unknown>>;

/** A layer that sets one value. */
export const singleValueLayer = (source: string, path: readonly string[], value: unknown): ConfigLayer => ({
  source,
  values: path.reduceRight((inner, key) => ({ [key]: inner }), value),
});

/** Lays `upper` over `lower`: groups are merged, anything else is replaced, lists too. */
export function mergeLayers(lower: unknown, upper: unknown): unknown {
  if (!isSection(lower) || !isSection(upper)) return upper;
  const members = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) members.set(key, mergeLayers(members.get(key), value));
  return Object.fromEntries(members); // defines its members, so that a key named __proto__ is a key like any other
}

/** The last layer that says something at a path: the one whose word stands there. */
export const topLayerAt = (layers: readonly ConfigLayer[], path: Path): ConfigLayer | undefined =>
  layers.findLast(({ values }) => valueAt(values, path) !== undefined);

/** The value at a path, or what stands where the path can't be followed on: `"a"` for `upstreams.0.url` of `["a"]`. */
export const valueAt = (values: unknown, path: Path): unknown =>
  path.reduce((value, key) => (isObject(value) ? (Object.hasOwn(value, key) ? value[key] : undefined) : value), values);

const isObject = (value: unknown): value is Section => typeof value === 'object' && value !== null;

/** Whether a value is one that layers merge: an object, not a list. */
export const isSection = (value: unknown): value is Section => isObject(value) && !Array.isArray(value);
