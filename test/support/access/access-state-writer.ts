import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../../src/gateway/access/api-keys/api-key-store.ts';
import { UsageCounter } from '../../../src/gateway/access/usage/usage-counter.ts';
import { usagePath } from '../../../src/gateway/access/usage/usage-file.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { ManualClock } from '../manual-clock.ts';
import { apiKeyRecord, issueKeys, revokeKey } from './api-key-fixtures.ts';

// Child process that a test kills: issues and revokes keys in one folder, counts usage in another, and prints each
// completed step.

const [, , keysFolder = '', usageFolder = '', name = ''] = process.argv;
const clock = new ManualClock();
const usage = new UsageCounter({
  path: usagePath(usageFolder),
  clock,
  writes: new DurableWrites({
    clock,
    onProblem: (problem) => console.log('problem', problem),
    onRecovery: () => console.log('recovered'),
  }),
});

for (let round = 1; ; round++) {
  const id = `${name}-${round}`;
  await issueKeys(apiKeysPath(keysFolder), apiKeyRecord(generateApiKey(), { id }));
  console.log(`issued ${id}`);
  await revokeKey(apiKeysPath(keysFolder), id);
  console.log(`revoked ${id}`);
  for (let i = 0; i < 10; i++) {
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(100);
  }
  console.log(`counted ${round * 10}`);
  await sleep(20 * Math.random()); // the others want the lock too
}
