import { runFaultRows } from '../run-rows.ts';

// node dist/test/catalogue/faults/run.js [--full] [--gateway=MAIN] [ROW…] Runs rows of the fault catalogue and prints a
// line for each; exits with 1 if a finding is not met. `mutated-answers` and `root-ahead` can run over
// the `main.js` of another build.

await runFaultRows(import.meta.url);
