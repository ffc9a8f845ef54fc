import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import { ownTurn } from '../../shared/runtime/own-turn.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { sortUsage, usagePath } from '../access/usage/usage-file.ts';
import { shownUsage, type UsageRow } from '../access/usage/usage-line.ts';
import { UsageTail } from '../access/usage/usage-tail.ts';
import { type AdminPage, jsonText } from './admin-page.ts';

/** Rows that are formatted in one turn of the event loop: about a millisecond's work. */
const ROWS_PER_TURN = 500;

interface FormattedRow {
  readonly row: UsageRow;
  readonly text: string;
}

/** Creates the page `/usage.json`: requests and units by day, API key and route; `?day=` and `?key=` choose. */
export function createUsagePage(state: string): AdminPage {
  const readRows = readOnce(() => readFormatted(usagePath(state)));
  return async (query) => {
    const [day, key] = [query.get('day'), query.get('key')];
    const rows = await readRows();
    await ownTurn(); // many requests may have waited for them
    const chosen = rows.filter(({ row }) => (day ?? row.day) === row.day && (key ?? row.key) === row.key);
    return jsonText(`{"usage":[\n${chosen.map(({ text }) => text).join(',\n')}\n]}`);
  };
}

/** Reads all rows in order, in turns of the event loop. */
async function readFormatted(path: string): Promise<readonly FormattedRow[]> {
  const tail = new UsageTail(path);
  await tail.read();
  const days = new Map<string, [string, UsageRow][]>();
  for (const sum of tail.sums) {
    const { day } = sum[1];
    const ofDay = days.get(day);
    if (ofDay === undefined) days.set(day, [sum]);
    else ofDay.push(sum);
  }
  const inOrder = [...days].sort(([a], [b]) => (a < b ? -1 : 1));
  const sorted = await mapInChunks(inOrder, 1, ([, sums]) => sortUsage(sums));
  return mapInChunks(sorted.flat(), ROWS_PER_TURN, (row) => ({ row, text: JSON.stringify(shownUsage(row)) }));
}
