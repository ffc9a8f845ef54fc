import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import bs58 from 'bs58';
import * as mints from '../../src/shared/domain/known-mints.ts';
import * as wellKnown from '../../src/shared/domain/well-known-addresses.ts';
import type { ForgedCall, Forgery } from './forged-transaction.ts';
import * as world from './forged-world.ts';
import { addressOf, u64Bytes } from './synthetic-transaction.ts';

export interface Attack {
  readonly signers?: readonly string[];
  readonly make: (forgery: Forgery) => readonly ForgedCall[];
  /** What a description must say. */
  readonly says: readonly string[];
  readonly never?: RegExp;
  /** Scenes in which it makes no sense. */
  readonly not?: readonly string[];
  /** The scenes in which it makes sense, if they are few. */
  readonly only?: readonly string[];
}

/** A line with those that stand below it. */
interface Step {
  readonly words: readonly string[];
  readonly inner: Step[];
}

const TITLE = 'theft ';
const WORDS = /"(?:[^"\\]|\\.)*"(?:\*\d+)?|\S+/g;
const FACTS = ['signers', 'says', 'never', 'not', 'only'];

const addresses = new Map<string, string>();
const scenes = new Map<string, readonly string[]>();
for (const [name, value] of [mints, wellKnown, world].flatMap((each) => Object.entries(each)))
  if (typeof value === 'string') addresses.set(name, value);
for (const [place, address] of world.dust.entries()) addresses.set(`dust${place}`, address);

/** Reads the thefts of forged-thefts.txt, whose head describes their form. */
export function readThefts(): Readonly<Record<string, Attack>> {
  // from dist/test/support to test/support
  const text = readFileSync(new URL('../../../test/support/forged-thefts.txt', import.meta.url), 'utf8');
  const [head = '', ...thefts] = text.replace(/^ *#.*\n/gm, '').split(`\n${TITLE}`);
  for (const line of head.trim().split('\n')) {
    const [kind, name = '', ...rest] = line.split(' ');
    if (kind === 'name') addresses.set(name, addressFor(rest[0] ?? ''));
    else scenes.set(name, rest.join(' ').split(' | '));
  }
  const read = new Map(thefts.map(readTheft));
  if (read.size < thefts.length) throw new Error('two thefts have one name');
  return Object.fromEntries(read);
}

function readTheft(text: string): [string, Attack] {
  const [title = '', ...lines] = text.trimEnd().split('\n');
  const facts = new Map<string, string>();
  const steps: Step[] = [];
  for (const line of lines) {
    const [, indent = '', key = '', rest = ''] = /^( +)(\S+) ?(.*)$/.exec(line) ?? [];
    if (FACTS.includes(key)) facts.set(key, rest);
    else {
      let level = steps;
      for (let depth = 2; depth < indent.length; depth += 2) level = level.at(-1)?.inner ?? [];
      level.push({ words: line.match(WORDS) ?? [], inner: [] });
    }
  }
  const [says, signers, never] = ['says', 'signers', 'never'].map((key) => facts.get(key));
  if (says === undefined) throw new Error(`nothing must be said of the theft ${title}`);
  const listOf = (key: 'not' | 'only') =>
    facts.has(key) && { [key]: partsOf(facts.get(key)).flatMap((scene) => scenes.get(scene) ?? [scene]) };
  return [
    title,
    {
      make: (forgery) => steps.flatMap((step) => perform(forgery, step)),
      says: partsOf(withAddresses(says)),
      ...(signers !== undefined && { signers: signers.split(' ').map(addressFor) }),
      ...(never !== undefined && { never: new RegExp(withAddresses(never), 'u') }),
      ...listOf('not'),
      ...listOf('only'),
    },
  ];
}

/** Performs a step of a theft; returns the call that it is, if it is one. */
function perform(forgery: Forgery, { words, inner }: Step): readonly ForgedCall[] {
  const [verb = '', ...operands] = words;
  const calls = (): readonly ForgedCall[] => inner.flatMap((step) => perform(forgery, step));
  if (verb === 'silently') perform(forgery, { words: operands, inner });
  else if (verb === 'call' || verb === 'table') return [{ ...callOf(forgery, verb, operands), inner: calls() }];
  else if (verb === 'program') {
    const [programId = '', ...accounts] = operands.map(addressFor);
    return [forgery.program(programId, accounts, ...calls())];
  } else {
    // a method by its name; the record shows operands that it does not expect
    const method = forgery[verb as 'send'] as (...values: readonly unknown[]) => ForgedCall | undefined;
    return [method.apply(forgery, operands.map(operandOf)) ?? []].flat();
  }
  return [];
}

function callOf(forgery: Forgery, form: 'call' | 'table', words: readonly string[]): ForgedCall {
  const [colon, moves] = [words.indexOf(':'), words.indexOf('moves')];
  const [program = '', ...places] = words.slice(0, colon);
  const [lamports = '0', from = '', to = ''] = moves < 0 ? [] : words.slice(moves + 1);
  const named = new Map(places.map((place) => [Number(place.split('=')[0]), place.split('=')[1] ?? '']));
  const accounts =
    form === 'call'
      ? places.flatMap(repeated(addressFor))
      : Array.from({ length: 16 }, (_, place) => addressFor(named.get(place) ?? `#${150 + place}`));
  const data = words
    .slice(colon + 1, moves < 0 ? undefined : moves)
    .flatMap(repeated(bytesOf))
    .flat();
  const moved = moves < 0 ? {} : { from: addressFor(from), to: addressFor(to), lamports: amountOf(lamports) };
  return forgery.call(addressFor(program), accounts, data, moved);
}

/** Reads `WORD*5` as five times the word, `1,2*5` as five times both. */
const repeated =
  <T>(read: (word: string) => T) =>
  (word: string): T[] => {
    const [, words = word, times = '1'] = /^(.+)\*(\d+)$/.exec(word) ?? [];
    const once = words.startsWith('"') ? [words] : words.split(',');
    return Array.from({ length: Number(times) }, () => once.map(read)).flat();
  };

function bytesOf(word: string): readonly number[] {
  if (/^\d+$/.test(word)) return [Number(word)];
  if (word.startsWith('"')) return [...Buffer.from(JSON.parse(word))];
  const [, kind, value = ''] = /^(u32|u64|anchor|tag):(.+)$/.exec(word) ?? [];
  if (kind === 'u32') return [Number(value), 0, 0, 0];
  if (kind === 'u64') return u64Bytes(amountOf(value));
  if (kind === undefined) return [...bs58.decode(addressFor(word))];
  const name = kind === 'anchor' ? `global:${value}` : value;
  return [...createHash('sha256').update(name).digest().subarray(0, 8)];
}

/** The value of an operand: a text, an amount such as 5_000n, a number, or an address. */
function operandOf(word: string): unknown {
  if (word.startsWith('"')) return repeated(JSON.parse)(word).join('');
  if (word.endsWith('n') && /^\d/.test(word)) return amountOf(word);
  if (word.startsWith('ALL')) return word === 'ALL' ? world.ALL : world.ALL - 1n;
  return /^\d+$/.test(word) ? Number(word) : addressFor(word);
}

const amountOf = (word: string): bigint => (word === 'ALL' ? world.ALL : BigInt(word.replace(/_|n$/g, '')));

function addressFor(name: string): string {
  if (name.startsWith('like:')) return world.lookAlike(addressFor(name.slice(5)));
  if (name.startsWith('#')) return addressOf(Number(name.slice(1)));
  return addresses.get(name) ?? bs58.encode(bs58.decode(name));
}

/** Puts addresses in the place of their names in braces. */
const withAddresses = (text: string): string =>
  text.replace(/\{([^{}]+)\}/g, (whole, name: string) =>
    addresses.has(name) || /^(like:|#)/.test(name) ? addressFor(name) : whole,
  );

const partsOf = (text = ''): readonly string[] =>
  text === '' ? [] : text.split(' | ').map((part) => part.replace(/^"(.*)"$/, '$1'));
