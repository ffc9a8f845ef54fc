import { toJson } from '../../../shared/domain/to-json.ts';
import { VOTE_PROGRAM } from '../../../shared/domain/well-known-addresses.ts';
import { asArray, asInteger, asObject, programName } from '../../../transactions/index.ts';
import { malformed } from '../../upstream/json/json-scanner.ts';
import { eachElement, elements, isNull, type Members, members } from '../../upstream/json/raw-json.ts';
import { describeBlock, RewardCounter, rewardsOf, transactionsOf } from '../../upstream/reads/block-summary.ts';
import { BlockCounter, isLegacy, MAX_VOTE_SIGNERS, parseEffects, tipsIn } from '../../upstream/reads/block-tally.ts';
import type { BlockListing, ProgramCount } from '../routing/block-listings.ts';
import { type CalledPrograms, guessType } from './type-hint.ts';

export const LISTING_PAGE_SIZE = 100;

const MAX_COUNTED_PROGRAMS = 20;

/** `transactionDetails: "full"`, `encoding: "json"`. Takes some hundred milliseconds, so it runs in a thread. */
export function listBlock(result: Buffer): BlockListing {
  const block = members(result, Number.POSITIVE_INFINITY);
  const counter = new BlockCounter();
  const rewards = new RewardCounter();
  const counts = new Map<string, number>();
  const pages: Buffer[] = [];
  const pageEnds: number[] = [];
  let rows: string[] = [];
  const endPage = (): void => {
    if (rows.length === 0) return;
    const page = Buffer.from(rows.join());
    pages.push(page);
    pageEnds.push((pageEnds.at(-1) ?? 0) + page.length);
    rows = [];
  };
  for (const bytes of eachElement(transactionsOf(block))) {
    const { programs, isVote, outcome } = parseTransaction(bytes);
    counter.add({ ...outcome, isVote });
    for (const program of programs.all) counts.set(program, (counts.get(program) ?? 0) + 1);
    const status = outcome.succeeded === null ? null : outcome.succeeded ? 'success' : 'failed';
    rows.push(toJson({ signature: outcome.signature(), status, type: guessType(programs), programs: programs.all }));
    if (rows.length === LISTING_PAGE_SIZE) endPage();
  }
  endPage();
  for (const reward of eachElement(rewardsOf(block))) rewards.add(reward);
  return {
    block: describeBlock(block, counter.tally, rewards),
    pageEnds,
    rows: new Uint8Array(Buffer.concat(pages)),
    ...countPrograms(counts),
  };
}

function parseTransaction(bytes: Buffer) {
  const whole = members(bytes);
  const transaction = membersOf(whole, 'transaction');
  const message = membersOf(transaction, 'message');
  const signatures = elements(requiredIn(transaction, 'signatures'));
  const meta = whole.get('meta');
  const effects = meta === undefined || isNull(meta) ? undefined : members(meta);
  const keys = accountKeysOf(message, effects);
  const programs = programsOf(message, effects, keys);
  const isVote =
    isLegacy(whole.get('version')) &&
    signatures.length <= MAX_VOTE_SIGNERS &&
    programs.outer.length === 1 &&
    programs.outer[0] === VOTE_PROGRAM;
  return { programs, isVote, outcome: { ...parseEffects(effects, signatures), tips: tipsIn(keys, effects) } };
}

function accountKeysOf(message: Members, effects: Members | undefined): readonly string[] {
  const loaded = asObject(parseJson(effects?.get('loadedAddresses')));
  const lists = [parseJson(requiredIn(message, 'accountKeys')), loaded['writable'], loaded['readonly']];
  return lists.flatMap((list) =>
    asArray(list).map((key) => {
      if (typeof key !== 'string') throw malformed();
      return key;
    }),
  );
}

/** Finds the programs that a transaction called, each once, in the order of the first calls. */
function programsOf(message: Members, effects: Members | undefined, keys: readonly string[]): CalledPrograms {
  const programOf = (instruction: unknown): string => {
    const program = keys[asInteger(asObject(instruction)['programIdIndex']) ?? -1];
    if (program === undefined) throw malformed();
    return program;
  };
  const outer = asArray(parseJson(requiredIn(message, 'instructions'))).map(programOf);
  const inner = new Map<number | null, string[]>();
  for (const group of asArray(parseJson(effects?.get('innerInstructions')))) {
    const { index, instructions } = asObject(group);
    inner.set(asInteger(index), asArray(instructions).map(programOf));
  }
  const all = new Set(outer.flatMap((program, index) => [program, ...(inner.get(index) ?? [])]));
  return { outer, all: [...all] };
}

function countPrograms(counts: ReadonlyMap<string, number>): Pick<BlockListing, 'programs' | 'otherPrograms'> {
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const programs = sorted
    .slice(0, MAX_COUNTED_PROGRAMS)
    .map(([programId, count]): ProgramCount => ({ programId, name: programName(programId), count }));
  return { programs, otherPrograms: sorted.length - programs.length };
}

function requiredIn(parts: Members, name: string): Buffer {
  const value = parts.get(name);
  if (value === undefined) throw malformed();
  return value;
}

const membersOf = (parts: Members, name: string): Members => members(requiredIn(parts, name));

function parseJson(bytes: Buffer | undefined): unknown {
  try {
    return bytes === undefined ? null : JSON.parse(bytes.toString());
  } catch {
    throw malformed(); // the parser's own message would quote the node's answer
  }
}
