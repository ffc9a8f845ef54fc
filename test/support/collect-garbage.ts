import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

/** Collects all garbage, so that the memory in use can be told. */
export function collectGarbage(): void {
  gc();
  gc(); // what the first has finalized
}
