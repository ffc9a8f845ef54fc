import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

/** Collects all garbage, so that memory in use can be measured. */
export function collectGarbage(): void {
  gc();
  gc(); // collects what the first call has finalized
}
