import { setTimeout as sleep } from 'node:timers/promises';
import { newApiKey } from '../../../src/access/api-keys/api-key.ts';
import { keysPath } from '../../../src/access/api-keys/key-store.ts';
import { Usage } from '../../../src/access/usage/usage.ts';
import { usagePath } from '../../../src/access/usage/usage-file.ts';
import { ManualClock } from '../manual-clock.ts';
import { issue, recordOf, revoke } from './issued.ts';

// Run by a test, and killed: issues and revokes keys in one folder and counts in another, and says what is done.

const [, , keysFolder = '', usageFolder = '', name = ''] = process.argv;
const clock = new ManualClock();
const usage = new Usage({
  path: usagePath(usageFolder),
  clock,
  onProblem: (problem) => console.log('problem', problem),
});

for (let count = 1; ; count++) {
  const id = `${name}-${count}`;
  await issue(keysPath(keysFolder), recordOf(newApiKey(), { id }));
  console.log(`issued ${id}`);
  await revoke(keysPath(keysFolder), id);
  console.log(`revoked ${id}`);
  for (let i = 0; i < 10; i++) {
    usage.count('k', '/slot', 'answered');
    clock.advance(100);
  }
  console.log(`counted ${count * 10}`);
  await sleep(20 * Math.random()); // the others want the lock too
}
