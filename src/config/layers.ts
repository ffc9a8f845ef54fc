/** What one source says about the configuration: any part of its tree. */
export interface Layer {
  /** What the operator calls the source: a file, a variable, a flag. */
  readonly source: string;
  readonly values: unknown;
}

type Path = readonly PropertyKey[];
type Group = Readonly<Record<PropertyKey, unknown>>;

/** A layer that sets one value. */
export const assign = (source: string, path: readonly string[], value: unknown): Layer => ({
  source,
  values: path.reduceRight((inner, key) => ({ [key]: inner }), value),
});

/** Lays `upper` over `lower`: groups are merged, anything else is replaced, lists too. */
export function merge(lower: unknown, upper: unknown): unknown {
  if (!isGroup(lower) || !isGroup(upper)) return upper;
  const members = new Map(Object.entries(lower));
  for (const [key, value] of Object.entries(upper)) members.set(key, merge(members.get(key), value));
  return Object.fromEntries(members); // defines its members, so that a key named __proto__ is a key like any other
}

/** The last layer that says something at a path: the one whose word stands there. */
export const strongest = (layers: readonly Layer[], path: Path): Layer | undefined =>
  layers.findLast(({ values }) => valueAt(values, path) !== undefined);

/** The value at a path, or what stands where the path can't be followed on: `"a"` for `upstreams.0.url` of `["a"]`. */
export const valueAt = (values: unknown, path: Path): unknown =>
  path.reduce((value, key) => (isTree(value) ? (Object.hasOwn(value, key) ? value[key] : undefined) : value), values);

const isTree = (value: unknown): value is Group => typeof value === 'object' && value !== null;

/** Whether a value is one that layers merge: an object, not a list. */
export const isGroup = (value: unknown): value is Group => isTree(value) && !Array.isArray(value);
