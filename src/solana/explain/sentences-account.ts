import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  UPGRADEABLE_LOADER,
} from '../../domain/well-known-addresses.ts';
import { knownMintSymbol, WRAPPED_SOL } from '../accounts/known-mints.ts';
import {
  findCloseAccountInstructions,
  findInstructions,
  infoAddress,
  type ParsedTransaction,
} from '../analysis/parsed-transaction.ts';
import { findOpenedAccounts } from '../analysis/wallet-changes.ts';
import { programPhrase } from './program-phrase.ts';
import { type FormatAddress, formatAccounts, formatSol } from './sentence-formats.ts';

const LOADERS: readonly string[] = [UPGRADEABLE_LOADER, LOADER_V4];

export function describeOpening(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [creation, ...more] = findInstructions(parsed, [ASSOCIATED_TOKEN_PROGRAM], /^create/);
  const wallet = infoAddress(creation, 'wallet');
  const mint = infoAddress(creation, 'mint');
  if (more.length === 0 && wallet !== null && mint !== null) {
    const beneficiary = wallet === parsed.feePayer ? '' : ` for ${formatAddress(wallet)}`;
    return `${formatAddress(parsed.feePayer)} opened an account${beneficiary} that can hold ${tokenLabel(mint, formatAddress)}`;
  }
  const table = infoAddress(findInstructions(parsed, [LOOKUP_TABLE_PROGRAM], /^extend/)[0], 'lookupTableAccount');
  if (table !== null)
    return `${formatAddress(parsed.feePayer)} added addresses to the address list ${formatAddress(table)}`;
  const opened = findOpenedAccounts(parsed);
  return `${formatAddress(parsed.feePayer)} opened ${opened.size === 1 ? `the account ${formatAccounts(opened, formatAddress)}` : opened.size === 0 ? 'an account' : `${opened.size} accounts`}`;
}

export function describeClosing(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const closed = findCloseAccountInstructions(parsed);
  const refund =
    BigInt(parsed.accountData.find(({ account }) => account === parsed.feePayer)?.nativeBalanceChange ?? 0) +
    BigInt(parsed.fee);
  const closedText =
    closed.length > 1 ? `${closed.length} token accounts` : closed.length === 1 ? 'a token account' : 'an account';
  return `${formatAddress(parsed.feePayer)} closed ${closedText}${refund > 0n ? ` and got ${formatSol(refund)} back` : ''}${programPhrase(parsed, 'through', formatAddress)}`;
}

export function describeDeploy(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [deploy] = findInstructions(parsed, LOADERS, /^deploy/);
  const program = infoAddress(deploy, 'programAccount');
  if (program !== null)
    return `${formatAddress(parsed.feePayer)} put the program ${formatAddress(program)} on the chain`;
  const [write] = findInstructions(parsed, LOADERS, /^(write|initializeBuffer)/);
  const buffer = infoAddress(write, 'account') ?? infoAddress(write, 'programAccount');
  return `${formatAddress(parsed.feePayer)} uploaded a part of a program to ${buffer === null ? 'an account' : `the account ${formatAddress(buffer)}`}`;
}

export function describeUpgrade(parsed: ParsedTransaction, formatAddress: FormatAddress): string {
  const [upgrade] = findInstructions(parsed, LOADERS, /^upgrade/);
  const [extension] = findInstructions(parsed, LOADERS, /^(extend|setProgramLength)/);
  const program = infoAddress(upgrade ?? extension, 'programAccount') ?? '';
  return upgrade === undefined
    ? `${formatAddress(parsed.feePayer)} made room for a new version of the program ${formatAddress(program)}`
    : `${formatAddress(parsed.feePayer)} replaced the program ${formatAddress(program)} by a new version`;
}

const tokenLabel = (mint: string, formatAddress: FormatAddress): string =>
  mint === WRAPPED_SOL ? 'wrapped SOL' : (knownMintSymbol(mint) ?? `the token ${formatAddress(mint)}`);
