import { hash } from 'node:crypto';
import { elements, isNull, member, pickMembers } from '../json/raw-json.ts';
import type { Facts } from '../rpc/facts.ts';

const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;

/**
 * Returns what every honest node has alike of an account: lamports, owner, the executable flag, and its data. A parser may
 * show data or not, and name more or less of it; of a token's accounts all parsers name mint, owner and amount alike.
 */
export function factsOfAccount(account: Buffer | null): Facts {
  const [lamports, owner, executable, data] =
    account === null || isNull(account) ? [] : pickMembers(account, ['lamports', 'owner', 'executable', 'data']);
  if (lamports === undefined || lamports.toString() === '0') return new Map([['account', 'none']]);
  const facts = new Map([['account', digestOf([lamports, owner, executable])]]);
  if (data === undefined) return facts;
  if (data[0] === OPENING_BRACE) {
    const named = tokenPartsOf(data);
    if (named !== undefined) facts.set('token', digestOf(named));
  } else facts.set('data', digestOf(data[0] === OPENING_BRACKET ? elements(data) : [data]));
  return facts;
}

/** Returns what a parser shows of a token account or a mint; undefined for anything else. */
export function tokenPartsOf(data: Buffer): readonly (Buffer | undefined)[] | undefined {
  const [program, parsed] = pickMembers(data, ['program', 'parsed']);
  if (!TOKEN_PARSERS.has(program?.toString() ?? '') || parsed?.[0] !== OPENING_BRACE) return undefined;
  const [type, info] = pickMembers(parsed, ['type', 'info']);
  if (info?.[0] !== OPENING_BRACE) return undefined;
  const [mint, owner, tokenAmount, supply] = pickMembers(info, ['mint', 'owner', 'tokenAmount', 'supply']);
  const amount = tokenAmount?.[0] === OPENING_BRACE ? member(tokenAmount, 'amount') : undefined;
  return [type, mint, owner, amount, supply];
}

const TOKEN_PARSERS: ReadonlySet<string> = new Set(['"spl-token"', '"spl-token-2022"']);

const digestOf = (parts: readonly (Buffer | undefined)[]): string =>
  hash('sha256', parts.map((part) => part?.toString('latin1') ?? '').join('\n'), 'hex');
