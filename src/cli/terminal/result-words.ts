import type { Result } from '../../client/index.ts';
import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { quotedName } from '../../shared/domain/quoted-name.ts';
import { toSol } from '../../shared/domain/sol-amount.ts';
import { formatTable } from './text-table.ts';

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const USD = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });

const timeText = (seconds: number | null): string => (seconds === null ? '–' : `${TIME.format(seconds * 1000)} UTC`);
const usd = (value: number | bigint | null): string => (value === null ? '' : USD.format(value));
const count = (value: number | bigint | null): string => (value === null ? '–' : value.toLocaleString('en'));

/** Groups the digits of an exact decimal before its point: a double would lose some. */
const grouped = (decimal: string): string => decimal.replace(/^\d+/, (digits) => count(BigInt(digits)));

const DESCRIBERS: Readonly<Record<string, (result: never) => string | undefined>> = {
  '/tx/:sig': describeTransaction,
  '/address/:addr/portfolio': describePortfolio,
  '/block/:slot': describeBlock,
};

/** Returns the result of a route in words or as a table; undefined where its JSON says it best. */
export function describeResult(routePath: string, result: string): string | undefined {
  const describe = DESCRIBERS[routePath];
  return describe?.(parseExactJson(result) as never); // the receipt is about that route, which has this form
}

function describeTransaction({ enhanced, slot, blockTime, signature }: Result<'/tx/:sig'>): string | undefined {
  if (!enhanced) return undefined;
  const { status, type, source, description, fee, feePayer, computeUnitsConsumed, transactionError } = enhanced;
  const isFailed = status === 'failed';
  return [
    `${isFailed ? '✗ Failed' : status === null ? 'Outcome unknown' : '✓ Success'} · ${type} · ${source} · ${timeText(blockTime)}`,
    `${isFailed ? 'Failed: ' : ''}${description}`,
    '',
    rowsText([
      ['Signature', signature],
      ['Slot', count(slot)],
      ['Fee', `${grouped(toSol(BigInt(fee)))} SOL by ${feePayer}`],
      ['Compute units', count(computeUnitsConsumed)],
      ...(transactionError?.name == null ? [] : [['Error', transactionError.name]]),
    ]),
  ].join('\n');
}

function describePortfolio({ owner, totalUsd, items }: Result<'/address/:addr/portfolio'>): string {
  if (items.length === 0) return `${owner} holds nothing.`;
  const rows = items.map(({ asset, symbol, name, mint, uiAmountString, priceUsd, valueUsd, verified, suspicious }) => [
    isWrappedSol(mint) && asset !== 'SOL'
      ? 'wrapped SOL'
      : ((verified ? symbol : quotedName(symbol ?? name ?? '')) ?? mint),
    grouped(uiAmountString),
    usd(priceUsd),
    usd(valueUsd),
    asset === 'SOL' ? '' : `${mint}${suspicious ? '  its name may mislead' : ''}`,
  ]);
  const total = totalUsd === null ? [] : [`${usd(totalUsd)} in all`, ''];
  return [owner, ...total, formatTable([['Asset', 'Amount', 'Price', 'Value', 'Mint'], ...rows]).trimEnd()].join('\n');
}

function describeBlock({ slot, blockTime, commitment, transactions, ...block }: Result<'/block/:slot'>): string {
  const { count: all, nonVoteCount, failedCount, feesLamports, computeUnitsConsumed } = transactions;
  return [
    `Slot ${count(slot)} · ${commitment} · ${timeText(blockTime)}`,
    '',
    rowsText([
      ['Leader', block.leader ?? '–'],
      ['Transactions', `${count(all)}: ${count(nonVoteCount)} without votes, ${count(failedCount)} failed`],
      ['Fees', `${grouped(toSol(BigInt(feesLamports)))} SOL`],
      ...(computeUnitsConsumed === null ? [] : [['Compute units', count(computeUnitsConsumed)]]),
      ['Height', count(block.blockHeight)],
      ['Hash', block.blockhash],
      ['Parent', count(block.parentSlot)],
    ]),
  ].join('\n');
}

const rowsText = (rows: readonly (readonly string[])[]): string => formatTable(rows).trimEnd();
