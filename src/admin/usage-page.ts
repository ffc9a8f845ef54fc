import { readUsageInTurns, usagePath } from '../access/usage/usage-file.ts';
import { REQUEST_OUTCOMES } from '../access/usage/usage-line.ts';
import { type AdminPage, json } from './admin-listener.ts';

/** Creates the page `/usage.json`: requests and units by day, API key and route; `?day=` and `?key=` choose. */
export const createUsagePage =
  (state: string): AdminPage =>
  async (query) => {
    const [day, key] = [query.get('day'), query.get('key')];
    const rows = (await readUsageInTurns(usagePath(state)))
      .filter((row) => (day ?? row.day) === row.day && (key ?? row.key) === row.key)
      .map(({ counts, units, ...row }) => ({
        ...row,
        ...Object.fromEntries(REQUEST_OUTCOMES.map((outcome, i) => [outcome, counts[i] ?? 0])),
        units,
      }));
    return json({ usage: rows });
  };
