import { mapInChunks } from '../../shared/runtime/map-in-chunks.ts';
import { ownTurn } from '../../shared/runtime/own-turn.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { inOrder, usagePath } from '../access/usage/usage-file.ts';
import { shownUsage, type UsageRow } from '../access/usage/usage-line.ts';
import { UsageTail } from '../access/usage/usage-tail.ts';
import { type AdminPage, jsonText } from './admin-page.ts';

/** Rows that are grouped or formatted in one turn of the event loop: about a millisecond's work. */
const ROWS_PER_TURN = 500;

/** Keys whose rows of a day are sorted in one turn: each has at most one row for each route. */
const KEYS_PER_TURN = 10;

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

async function readFormatted(path: string): Promise<readonly FormattedRow[]> {
  const tail = new UsageTail(path);
  await tail.read();
  const days = new Map<string, Map<string, Map<string, UsageRow>>>();
  await mapInChunks([...tail.sums.values()], ROWS_PER_TURN, (row) => {
    const keys = days.get(row.day) ?? new Map<string, Map<string, UsageRow>>();
    days.set(row.day, keys.set(row.key, (keys.get(row.key) ?? new Map<string, UsageRow>()).set(row.route, row)));
  });
  const keys = (await mapInChunks(inOrder(days), 1, inOrder)).flat();
  const rows = (await mapInChunks(keys, KEYS_PER_TURN, inOrder)).flat();
  return mapInChunks(rows, ROWS_PER_TURN, (row) => ({ row, text: JSON.stringify(shownUsage(row)) }));
}
