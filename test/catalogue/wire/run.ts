import { namedBy, runRows } from '../run-rows.ts';
import type { Pace, Row } from './row.ts';
import { aborted } from './rows/aborted.ts';
import { bombs } from './rows/bombs.ts';
import { broken } from './rows/broken.ts';
import { called } from './rows/called.ts';
import { canary } from './rows/canary.ts';
import { connects } from './rows/connects.ts';
import { crowded } from './rows/crowded.ts';
import { edges } from './rows/edges.ts';
import { flooded } from './rows/flooded.ts';
import { fuzzed } from './rows/fuzzed.ts';
import { guessed } from './rows/guessed.ts';
import { identical } from './rows/identical.ts';
import { idle } from './rows/idle.ts';
import { injected } from './rows/injected.ts';
import { jumped } from './rows/jumped.ts';
import { leaked } from './rows/leaked.ts';
import { metered } from './rows/metered.ts';
import { misnamedMethods } from './rows/misnamed.ts';
import { missed } from './rows/missed.ts';
import { misspeltAddresses } from './rows/misspelt.ts';
import { modelled } from './rows/modelled.ts';
import { oversized } from './rows/oversized.ts';
import { pipelined } from './rows/pipelined.ts';
import { proxied } from './rows/proxied.ts';
import { rfc } from './rows/rfc.ts';
import { slow } from './rows/slow.ts';
import { smuggling } from './rows/smuggling.ts';
import { spoofed } from './rows/spoofed.ts';
import { stalled } from './rows/stalled.ts';
import { websocket } from './rows/websocket.ts';
import { onStage } from './stage.ts';

// node dist/test/catalogue/wire/run.js [--short | --full] [ROW…]
// Runs the rows of the catalogue of attacks on the wire and prints a line for each; exits with 1 when one is not as it
// should be.

const ROWS: readonly Row[] = [
  rfc,
  smuggling,
  proxied,
  slow,
  idle,
  connects,
  fuzzed,
  injected,
  aborted,
  broken,
  pipelined,
  oversized,
  bombs,
  called,
  misnamedMethods,
  misspeltAddresses,
  canary,
  modelled,
  edges,
  spoofed,
  crowded,
  jumped,
  metered,
  guessed,
  leaked,
  missed,
  websocket,
  stalled,
  flooded,
  identical,
];

const args = process.argv.slice(2);
const pace: Pace = args.includes('--full') ? 'full' : args.includes('--short') ? 'short' : 'usual';
const rows = namedBy(args, ROWS);

await onStage([], async (stage) => {
  await runRows(rows, (row) => row.run(stage, pace));
  const { ending, defects } = stage.gateway;
  if (ending !== undefined) console.log(`FAILED: the gateway has ended: ${ending}`);
  for (const defect of defects.slice(0, 5)) console.log(`FAILED: ${defect}`);
  if (ending !== undefined || defects.length > 0) process.exitCode = 1;
});
