import { runFaultRows } from '../run-rows.ts';

// node dist/test/catalogue/fleet/run.js [--full] [ROW…] Runs rows of faults of a fleet over a real redis-server and prints
// a line for each; exits with 1 if a finding is not met.

await runFaultRows(import.meta.url);
