import type { Rng } from '../../../src/localnet/traffic/seeded-rng.ts';

type Path = readonly (string | number)[];

/** A change that makes a document larger or dearer. Sizes shrink until the document fits its limit. */
export type Growth =
  /** Repeats the elements of a list until it has `size`, with other texts in each copy. */
  | { readonly op: 'grow'; readonly path: Path; readonly size: number; readonly naming: Naming }
  /** Replaces some of a text's free words by a filler of `size` characters: those between two shares of their number. */
  | {
      readonly op: 'stretch';
      readonly path: Path;
      readonly words: readonly [from: number, to: number];
      readonly filler: string;
      readonly size: number;
    }
  | { readonly op: 'number'; readonly path: Path; readonly size: number }
  | { readonly op: 'drop'; readonly path: Path };

/** What differs between the copies of an element: nothing, short names, or addresses. */
const NAMINGS = ['same', 'short', 'address'] as const;
type Naming = (typeof NAMINGS)[number];

/** A document that the search changes: one of a corpus, with growths applied in order. */
export interface GrownDocument {
  readonly seed: number;
  readonly growths: readonly Growth[];
}

const MAX_GROWTHS = 5;
const MAX_SIZE = 262_144;
const MAX_ELEMENTS = 20_000;
/** Sizes between whole powers of two, too: bounds lie anywhere. */
const STEPS = [0.5, 0.8, 1.25, 2, 4] as const;
const WORD = /\w+/g;
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,88}$/;

const pick = <T>(rng: Rng, list: readonly T[]): T | undefined => list[rng.intBelow(list.length)];

/** Picks a size, large ones more often: what doesn't fit shrinks. */
const randomSize = (rng: Rng): number => Math.ceil(2 ** (1 + Math.max(rng.intBelow(170), rng.intBelow(170)) / 10));

/** Returns what texts of one form have in common: a line of a log, say, or an address. */
const formOf = (text: string): string =>
  text
    .match(/\b[A-Za-z]{2,14}\b/g)
    ?.slice(0, 4)
    .join(' ') ?? '';

function groupOf(path: Path, value: unknown): string {
  const place = path.map((name) => (typeof name === 'number' ? '*' : name)).join('.');
  return typeof value === 'string' ? `${place} ${formOf(value)}` : place;
}

/** Places of one kind of value, in groups that differ only by positions in lists, or in words: each counts as one. */
type PlaceGroups = Map<string, Path[]>;

interface Places {
  readonly lists: PlaceGroups;
  readonly texts: PlaceGroups;
  readonly numbers: PlaceGroups;
}

function placesOf(
  value: unknown,
  path: Path = [],
  found: Places = { lists: new Map(), texts: new Map(), numbers: new Map() },
): Places {
  const add = (groups: PlaceGroups): void => {
    const group = groupOf(path, value);
    groups.set(group, [...(groups.get(group) ?? []), path]);
  };
  if (typeof value === 'string') add(found.texts);
  else if (typeof value === 'number') add(found.numbers);
  else if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value) && value.length > 0) add(found.lists);
    for (const [name, part] of Object.entries(value))
      placesOf(part, [...path, Array.isArray(value) ? Number(name) : name], found);
  }
  return found;
}

/** Finds the words that all texts of a group have, as the labels in a line of a log: without them it has no meaning. */
function fixedWordsOf(seeds: readonly string[], places: readonly Places[]): ReadonlyMap<string, ReadonlySet<string>> {
  const texts = new Map<string, Set<string>>();
  for (const [i, { texts: groups }] of places.entries()) {
    const root = JSON.parse(seeds[i] ?? 'null');
    for (const [group, paths] of groups)
      for (const path of paths) texts.set(group, (texts.get(group) ?? new Set()).add(String(valueAt(root, path))));
  }
  return new Map(
    [...texts].map(([group, found]) => {
      const [first = '', ...others] = found;
      const isInAll = (word: string): boolean => others.every((text) => text.includes(word));
      return [group, new Set(others.length === 0 ? [] : (first.match(WORD) ?? []).filter(isInAll))];
    }),
  );
}

const pickPlace = (rng: Rng, groups: PlaceGroups): Path | undefined => pick(rng, pick(rng, [...groups.values()]) ?? []);

const isParent = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null;

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce((value, name) => (isParent(value) ? value[name] : undefined), root);

function setAt(root: unknown, path: Path, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  const name = path.at(-1);
  if (isParent(parent) && name !== undefined) parent[name] = value;
}

type PlaceKind = 'list' | 'text' | 'number';

export interface DocumentGrowthOptions {
  /** Valid documents by their form: each form is as likely as another. */
  readonly seeds: readonly (readonly string[])[];
  /** What texts are stretched by. */
  readonly fillers: readonly string[];
  readonly maxBytes: number;
  readonly isGrown?: ((place: string, kind: PlaceKind) => boolean) | undefined;
}

/** Generates and changes documents: the seeds are a corpus of valid ones, the fillers what texts are stretched by. */
export class DocumentGrowth {
  readonly #seeds: readonly string[];
  /** Positions of the seeds of each form. */
  readonly #forms: readonly (readonly number[])[];
  readonly #places: readonly Places[];
  readonly #fixedWords: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #fillers: readonly string[];
  readonly #maxBytes: number;

  /** `isGrown` returns whether the values at a place, as `a.*.b`, are changed; by default all are. */
  constructor({ seeds, fillers, maxBytes, isGrown = () => true }: DocumentGrowthOptions) {
    this.#seeds = seeds.flat();
    this.#places = this.#seeds.map((seed) => {
      const { lists, texts, numbers } = placesOf(JSON.parse(seed));
      const chosen = (groups: PlaceGroups, kind: PlaceKind): PlaceGroups =>
        new Map([...groups].filter(([group]) => isGrown(group, kind)));
      return { lists: chosen(lists, 'list'), texts: chosen(texts, 'text'), numbers: chosen(numbers, 'number') };
    });
    this.#fixedWords = fixedWordsOf(this.#seeds, this.#places);
    const hasPlaces = (seed: number): boolean =>
      Object.values(this.#places[seed] ?? {}).some((groups: PlaceGroups) => groups.size > 0);
    this.#forms = seeds
      .map((form) => form.map((seed) => this.#seeds.indexOf(seed)).filter(hasPlaces))
      .filter((form) => form.length > 0);
    this.#fillers = fillers;
    this.#maxBytes = maxBytes;
  }

  random(rng: Rng): GrownDocument {
    const seed = pick(rng, pick(rng, this.#forms) ?? []) ?? 0;
    if (rng.intBelow(2) === 0) return { seed, growths: this.#randomLists(rng, seed) };
    const growths = Array.from({ length: 1 + rng.intBelow(3) }, () => this.#randomGrowth(rng, seed));
    return { seed, growths: growths.flatMap((growth) => growth ?? []) };
  }

  mutate({ seed, growths }: GrownDocument, rng: Rng): GrownDocument {
    const at = rng.intBelow(Math.max(1, growths.length));
    const old = growths[at];
    const choice = rng.intBelow(10);
    if (choice >= 8) {
      const form = this.#forms.find((seeds) => seeds.includes(seed)) ?? [];
      return { seed: pick(rng, form) ?? seed, growths }; // what has no place there is left out
    }
    if (choice < 4 && old !== undefined && 'size' in old) {
      const size = Math.min(MAX_SIZE, Math.max(1, Math.round(old.size * (pick(rng, STEPS) ?? 1))));
      return { seed, growths: growths.with(at, { ...old, size }) };
    }
    if (choice < 6 && old?.op === 'stretch' && rng.intBelow(2) === 0)
      return { seed, growths: growths.with(at, { ...old, words: halfOf(old.words, rng) }) };
    if (choice < 6 && old?.op === 'stretch')
      return { seed, growths: growths.with(at, { ...old, filler: pick(rng, this.#fillers) ?? 'a' }) };
    if (choice < 6 && old?.op === 'grow') {
      const naming = pick(rng, NAMINGS) ?? 'same';
      if (rng.intBelow(2) === 0) return { seed, growths: growths.with(at, { ...old, naming }) };
      return { seed, growths: growths.map((each) => (each.op === 'grow' ? { ...each, naming } : each)) };
    }
    if (choice === 6 && growths.length > 1) return { seed, growths: growths.toSpliced(at, 1) };
    const another = old?.op === 'grow' && rng.intBelow(2) === 0 ? this.#randomLists(rng, seed, 1)[0] : undefined;
    const fresh = another ?? this.#randomGrowth(rng, seed);
    if (fresh === undefined) return this.random(rng);
    return { seed, growths: growths.length < MAX_GROWTHS ? [...growths, fresh] : growths.with(at, fresh) };
  }

  /** Grows different lists together: what is dear is often done for each pair of two lists' elements. */
  #randomLists(rng: Rng, seed: number, count = 2 + rng.intBelow(2)): readonly Growth[] {
    const groups = [...(this.#places[seed]?.lists.values() ?? [])];
    const naming = pick(rng, NAMINGS) ?? 'same';
    return Array.from({ length: Math.min(count, groups.length) }, () => {
      const [paths = []] = groups.splice(rng.intBelow(groups.length), 1);
      const size = Math.min(randomSize(rng), MAX_ELEMENTS);
      return { op: 'grow', path: pick(rng, paths) ?? [], size, naming };
    });
  }

  #randomGrowth(rng: Rng, seed: number): Growth | undefined {
    const { lists, texts, numbers } = this.#places[seed] as Places; // there is one for each seed
    const size = randomSize(rng);
    const kinds = [...Array(8).fill(lists), ...Array(8).fill(texts), ...Array(4).fill(numbers)];
    const kind: PlaceGroups | undefined = pick(
      rng,
      kinds.filter((groups) => groups.size > 0),
    );
    const path = kind && pickPlace(rng, kind);
    if (path === undefined) return undefined;
    if (rng.intBelow(20) === 0) return { op: 'drop', path };
    if (kind === lists)
      return { op: 'grow', path, size: Math.min(size, MAX_ELEMENTS), naming: pick(rng, NAMINGS) ?? 'same' };
    if (kind === numbers) return { op: 'number', path, size };
    return { op: 'stretch', path, words: [0, 1], filler: pick(rng, this.#fillers) ?? 'a', size };
  }

  /** Builds the document; all sizes shrink by the same factor until it fits the limit. */
  build({ seed, growths }: GrownDocument): string {
    for (let factor = 1; ; ) {
      const text = this.#apply(this.#seeds[seed] ?? '{}', growths, factor);
      const bytes = text === undefined ? 4 * this.#maxBytes : Buffer.byteLength(text);
      if (text !== undefined && bytes <= this.#maxBytes) return text;
      factor *= Math.min(0.9, (0.95 * this.#maxBytes) / bytes);
    }
  }

  /** Applies growths; undefined if the document becomes far larger than it may be. */
  #apply(seed: string, growths: readonly Growth[], factor: number): string | undefined {
    const root = JSON.parse(seed);
    for (const growth of growths) {
      const value = valueAt(root, growth.path);
      if (value === undefined) continue;
      const size = 'size' in growth ? Math.max(1, Math.round(growth.size * factor)) : 0;
      if (growth.op === 'grow' && Array.isArray(value) && value.length > 0) {
        const base = value.slice();
        const elementBytes = JSON.stringify(base).length / base.length;
        if (elementBytes * size > 3 * this.#maxBytes) return undefined;
        for (let i = base.length; i < size; i++) value.push(varied(base[i % base.length], growth.naming, i));
      } else if (growth.op === 'stretch' && typeof value === 'string') {
        const fixed = this.#fixedWords.get(groupOf(growth.path, value)) ?? new Set();
        setAt(root, growth.path, stretched(value, fixed, growth, size));
      } else if (growth.op === 'number' && typeof value === 'number') {
        setAt(root, growth.path, size);
      } else if (growth.op === 'drop') {
        setAt(root, growth.path, undefined);
      }
      if (factor < 0.001) return seed;
    }
    return JSON.stringify(root);
  }
}

/** Returns a copy whose addresses are other ones, unless all copies are to be the same. */
function varied(value: unknown, naming: Naming, i: number): unknown {
  if (typeof value === 'string') return naming !== 'same' && ADDRESS.test(value) ? nameOf(value, naming, i) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => varied(part, naming, i));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, name === 'programId' ? part : varied(part, naming, i)]),
  );
}

/** Names the i-th copy of an address; one that is not short has as many bytes as before. */
function nameOf(value: string, naming: Naming, i: number): string {
  const name = i.toString(33).replace(/[0l]/g, 'Z');
  return naming === 'short' ? `${value.slice(0, 1)}${name}` : value.slice(0, 8) + name + value.slice(8 + name.length);
}

/** Halves a share of a text's words, or starts over with all once it is small. */
function halfOf([from, to]: readonly [number, number], rng: Rng): readonly [number, number] {
  if (to - from < 1 / 64) return [0, 1];
  const middle = (from + to) / 2;
  return rng.intBelow(2) === 0 ? [from, middle] : [middle, to];
}

function stretched(
  text: string,
  fixed: ReadonlySet<string>,
  { words: [from, to], filler }: Extract<Growth, { readonly op: 'stretch' }>,
  size: number,
): string {
  const words = text.match(WORD) ?? [];
  if (words.length === 0) return repeated(filler, size);
  const isFree = (word: string): boolean =>
    words.length === 1 || !(fixed.has(word) || /^\d+$/.test(word) || ADDRESS.test(word));
  const count = words.filter(isFree).length;
  const [first, end] = [Math.floor(from * count), Math.max(Math.ceil(to * count), 1)];
  const part = repeated(filler, Math.ceil(size / Math.max(1, end - first)));
  let at = -1;
  return text.replace(WORD, (word) => {
    if (!isFree(word)) return word;
    at++;
    return at >= first && at < end ? part : word;
  });
}

const repeated = (filler: string, size: number): string =>
  filler.repeat(Math.ceil(size / filler.length)).slice(0, size);

const pathText = (path: Path): string => path.join('.').replace(/\.(\d+)/g, '[$1]');

export function describeGrowths(growths: readonly Growth[]): string {
  return growths
    .map((growth) => {
      const where = pathText(growth.path);
      switch (growth.op) {
        case 'grow':
          return `${where} × ${growth.size} (${growth.naming})`;
        case 'stretch':
          return `${where} words ${growth.words.map((share) => `${Math.round(100 * share)}%`).join(' to ')} = ${growth.size} of ${JSON.stringify(growth.filler)}`;
        case 'number':
          return `${where} = ${growth.size}`;
        default:
          return `without ${where}`;
      }
    })
    .join('; ');
}
