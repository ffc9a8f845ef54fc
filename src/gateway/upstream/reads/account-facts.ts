import { OPEN_ARRAY, OPEN_OBJECT } from '../json/json-scanner.ts';
import { elements, isNull, member, pickMembers, shortText } from '../json/raw-json.ts';
import { digestOf, type Facts } from '../rpc/facts.ts';

/**
 * Returns what every honest node has alike of an account: lamports, owner, the executable flag, and its data. A parser may
 * show data or not, and name more or less of it; of a token's accounts all parsers name mint, owner and amount alike.
 */
export function factsOfAccount(account: Buffer | null): Facts {
  const [lamports, owner, executable, data] =
    account === null || isNull(account) ? [] : pickMembers(account, ['lamports', 'owner', 'executable', 'data']);
  if (lamports === undefined || shortText(lamports) === '0') return new Map([['account', 'none']]);
  const facts = new Map([['account', digestOf([lamports, owner, executable].map(textOf))]]);
  if (data === undefined) return facts;
  if (data[0] === OPEN_OBJECT) {
    const named = tokenPartsOf(data);
    if (named !== undefined) facts.set('token', digestOf(named.map(textOf)));
  } else facts.set('data', digestOf(elementsOf(data).map(textOf)));
  return facts;
}

/** Returns what data that no parser shows consists of: itself, or what it is an array of, whose white space says nothing. */
export const elementsOf = (data: Buffer | undefined): readonly Buffer[] =>
  data?.[0] === OPEN_ARRAY ? elements(data) : [data ?? Buffer.alloc(0)];

/** Returns what a parser shows of a token account or a mint; undefined for anything else. */
export function tokenPartsOf(data: Buffer): readonly (Buffer | undefined)[] | undefined {
  const [program, parsed] = pickMembers(data, ['program', 'parsed']);
  if (!TOKEN_PARSERS.has(program?.toString() ?? '') || parsed?.[0] !== OPEN_OBJECT) return undefined;
  const [type, info] = pickMembers(parsed, ['type', 'info']);
  if (info?.[0] !== OPEN_OBJECT) return undefined;
  const [mint, owner, tokenAmount, supply] = pickMembers(info, ['mint', 'owner', 'tokenAmount', 'supply']);
  const amount = tokenAmount?.[0] === OPEN_OBJECT ? member(tokenAmount, 'amount') : undefined;
  return [type, mint, owner, amount, supply];
}

/** A token account, a mint or a multisig. */
interface DecodedToken {
  readonly type: string;
  readonly mint?: string;
  readonly owner?: string;
  readonly amount?: bigint;
  readonly supply?: bigint;
}

/** Returns the digest of what was decoded that {@link factsOfAccount} gives of what a parser shows. */
export const digestOfToken = ({ type, mint, owner, amount, supply }: DecodedToken): string =>
  digestOf([type, mint, owner, amount, supply].map((part) => (part === undefined ? undefined : `"${part}"`)));

const TOKEN_PARSERS: ReadonlySet<string> = new Set(['"spl-token"', '"spl-token-2022"']);

const textOf = (part: Buffer | undefined): string | undefined => part?.toString('latin1');
