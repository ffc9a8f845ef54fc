import { type FaultRow, type Finding, fails, resultLine } from './findings.ts';

const GATEWAY_FLAG = '--gateway=';

/** The id and title of a row. */
interface RowName {
  readonly id: string;
  readonly title: string;
}

/** Selects the rows named on a command line, or all if none is named. Throws for an unknown name. */
export function selectRows<R extends RowName>(args: readonly string[], rows: readonly R[]): readonly R[] {
  const ids = args.filter((arg) => !arg.startsWith('--'));
  const unknown = ids.find((id) => !rows.some((row) => row.id === id));
  if (unknown !== undefined) throw new Error(`no row ${unknown}: there are ${rows.map(({ id }) => id).join(' ')}`);
  return ids.length === 0 ? rows : rows.filter(({ id }) => ids.includes(id));
}

/** Runs rows one after another and prints a line for each. A finding that is not met makes the process exit with 1. */
export async function runRows<R extends RowName>(
  rows: readonly R[],
  run: (row: R) => Promise<readonly Finding[]>,
): Promise<void> {
  for (const row of rows) {
    const beganMs = performance.now();
    const findings = await run(row);
    console.log(resultLine(row, findings, (performance.now() - beganMs) / 1000));
    if (findings.some(fails)) process.exitCode = 1;
  }
}

/** Runs the rows of faults that a command line names; `--full` gives them their full length, `--gateway=MAIN` another build. */
export async function runFaultRows(rows: readonly FaultRow[]): Promise<void> {
  const args = process.argv.slice(2);
  const isFull = args.includes('--full');
  const main = args.find((arg) => arg.startsWith(GATEWAY_FLAG))?.slice(GATEWAY_FLAG.length);
  await runRows(selectRows(args, rows), (row) => row.run({ isFull, main }));
}
