import { readdirSync } from 'node:fs';
import { type Finding, fails, type Row, resultLine } from './findings.ts';

const GATEWAY_FLAG = '--gateway=';

interface RowName {
  readonly id: string;
  readonly title: string;
}

const isRow = <R extends RowName>(exported: unknown): exported is R =>
  typeof exported === 'object' && exported !== null && 'id' in exported && 'run' in exported;

/** Loads the rows that the modules of the folder `rows` beside a catalogue's `run.js` export, in the order of their names. */
export async function loadRows<R extends RowName>(run: string): Promise<readonly R[]> {
  const folder = new URL('rows/', run);
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const modules: readonly object[] = await Promise.all(files.sort().map((name) => import(new URL(name, folder).href)));
  return modules.flatMap((module) => Object.values(module)).filter(isRow<R>);
}

/** Selects the rows named on a command line, or all if none is named. Throws for an unknown name. */
export function selectRows<R extends RowName>(args: readonly string[], rows: readonly R[]): readonly R[] {
  const ids = args.filter((arg) => !arg.startsWith('--'));
  const unknown = ids.find((id) => !rows.some((row) => row.id === id));
  if (unknown !== undefined) throw new Error(`no row ${unknown}: there are ${rows.map(({ id }) => id).join(' ')}`);
  return ids.length === 0 ? rows : rows.filter(({ id }) => ids.includes(id));
}

/**
 * Runs rows one after another and prints a line for each. A finding that is not met makes the process exit with 1. With
 * `RETRY=1` a row that fails runs once more, as a file does in `.ci/tap`, and both lines are printed.
 */
export async function runRows<R extends RowName>(
  rows: readonly R[],
  run: (row: R) => Promise<readonly Finding[]>,
): Promise<void> {
  const holds = async (row: R): Promise<boolean> => {
    const beganMs = performance.now();
    const findings = await run(row);
    console.log(resultLine(row, findings, (performance.now() - beganMs) / 1000));
    return !findings.some(fails);
  };
  for (const row of rows) {
    if (await holds(row)) continue;
    if (process.env['RETRY'] !== '1' || !(await holds(row))) process.exitCode = 1;
  }
}

/** Runs the rows of a catalogue that a command line names; `--full` gives them their full length, `--gateway=MAIN` another build. */
export async function runFaultRows(run: string): Promise<void> {
  const args = process.argv.slice(2);
  const isFull = args.includes('--full');
  const main = args.find((arg) => arg.startsWith(GATEWAY_FLAG))?.slice(GATEWAY_FLAG.length);
  await runRows(selectRows(args, await loadRows<Row>(run)), (row) => row.run({ isFull, main }));
}
