import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../domain/well-known-addresses.ts';
import { mintSymbol, WRAPPED_SOL } from '../accounts/known-mints.ts';
import { address, asked, closedAccounts, type Facts } from '../analysis/facts.ts';
import { openedAccounts } from '../analysis/holdings.ts';
import { through } from './tell-program.ts';
import { accounts, type Spelling, sol } from './wording.ts';

const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

export function tellOpened(facts: Facts, spell: Spelling): string {
  const [token, ...more] = asked(facts, [ASSOCIATED_TOKEN_PROGRAM], /^create/);
  const wallet = address(token, 'wallet');
  const mint = address(token, 'mint');
  if (more.length === 0 && wallet !== null && mint !== null) {
    const whose = wallet === facts.feePayer ? '' : ` for ${spell(wallet)}`;
    return `${spell(facts.feePayer)} opened an account${whose} that can hold ${heldToken(mint, spell)}`;
  }
  const table = address(asked(facts, [LOOKUP_TABLE_PROGRAM], /^extend/)[0], 'lookupTableAccount');
  if (table !== null) return `${spell(facts.feePayer)} added addresses to the address list ${spell(table)}`;
  const opened = openedAccounts(facts);
  return `${spell(facts.feePayer)} opened ${opened.size === 1 ? `the account ${accounts(opened, spell)}` : opened.size === 0 ? 'an account' : `${opened.size} accounts`}`;
}

export function tellClosed(facts: Facts, spell: Spelling): string {
  const closed = closedAccounts(facts);
  const back =
    BigInt(facts.accountData.find(({ account }) => account === facts.feePayer)?.nativeBalanceChange ?? 0) +
    BigInt(facts.fee);
  const what =
    closed.length > 1 ? `${closed.length} token accounts` : closed.length === 1 ? 'a token account' : 'an account';
  return `${spell(facts.feePayer)} closed ${what}${back > 0n ? ` and got ${sol(back)} back` : ''}${through(facts, 'through', spell)}`;
}

export function tellDeploy(facts: Facts, spell: Spelling): string {
  const [deployed] = asked(facts, LOADERS, /^deploy/);
  const program = address(deployed, 'programAccount');
  if (program !== null) return `${spell(facts.feePayer)} put the program ${spell(program)} on the chain`;
  const [written] = asked(facts, LOADERS, /^(write|initializeBuffer)/);
  const buffer = address(written, 'account') ?? address(written, 'programAccount');
  return `${spell(facts.feePayer)} uploaded a part of a program to ${buffer === null ? 'an account' : `the account ${spell(buffer)}`}`;
}

export function tellUpgrade(facts: Facts, spell: Spelling): string {
  const [upgraded] = asked(facts, LOADERS, /^upgrade/);
  const [grown] = asked(facts, LOADERS, /^(extend|setProgramLength)/);
  const program = address(upgraded ?? grown, 'programAccount') ?? '';
  return upgraded === undefined
    ? `${spell(facts.feePayer)} made room for a new version of the program ${spell(program)}`
    : `${spell(facts.feePayer)} replaced the program ${spell(program)} by a new version`;
}

const heldToken = (mint: string, spell: Spelling): string =>
  mint === WRAPPED_SOL ? 'wrapped SOL' : (mintSymbol(mint) ?? `the token ${spell(mint)}`);
