import { existsSync, readdirSync } from 'node:fs';
import t from 'tap';
import { apiKeysPath, readApiKeys } from '../../../src/gateway/access/api-keys/api-key-store.ts';
import { UsageCounter } from '../../../src/gateway/access/usage/usage-counter.ts';
import { readUsage, usagePath } from '../../../src/gateway/access/usage/usage-file.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { runModule } from '../../support/child-process.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const CONCURRENT = 5;
const kills = Number(process.argv[2] ?? 5);
const ROUNDS = kills / CONCURRENT;

const last = (out: string, word: string): string[] =>
  [...out.matchAll(new RegExp(`^${word} (.+)$`, 'gm'))].map(([, what = '']) => what);

t.test(
  `46: ${kills} kills: no key or revocation that was acknowledged is lost, and of usage no more than a second`,
  { timeout: 300_000 },
  async (t) => {
    const folders = t.testdir({ keys: {}, usage: {} });
    const path = apiKeysPath(`${folders}/keys`);
    const issued = new Set<string>();
    const revoked = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const children = Array.from({ length: CONCURRENT }, (_, i) => {
        const usage = `${folders}/usage/${round}-${i}`;
        const args = [`${folders}/keys`, `${usage}`, `r${round}c${i}`];
        return { usage, ...runModule(new URL('../../support/access/access-state-writer.js', import.meta.url), args) };
      });
      for (const { process, waitForOutput } of children) {
        const kill = (): void => void setTimeout(() => process.kill('SIGKILL'), Math.random() * 30);
        waitForOutput('issued').then(kill, kill);
      }
      for (const { usage, exit, stdout } of children) {
        t.equal(await exit(), 'SIGKILL');
        for (const id of last(stdout(), 'issued')) issued.add(id);
        for (const id of last(stdout(), 'revoked')) revoked.add(id);
        const counted = Number(last(stdout(), 'counted').at(-1) ?? 0);
        const clock = new ManualClock();
        const onProblem = (problem: string) => t.fail(problem);
        const writes = new DurableWrites({ clock, onProblem, onRecovery: () => t.fail('there was no problem') });
        new UsageCounter({ path: usagePath(usage), clock, writes }).close();
        const [{ counts } = { counts: [0] }] = readUsage(usagePath(usage));
        if ((counts[0] ?? 0) < counted - 10) t.fail(`${counted} were counted, ${counts[0]} are left`);
      }
      const known = new Map(readApiKeys(path).map((key) => [key.id, key]));
      for (const id of issued) if (!known.has(id)) t.fail(`${id} is lost`);
      for (const id of revoked) if (known.get(id)?.revokedAt === null) t.fail(`${id} is valid again`);
    }
    t.ok(issued.size >= ROUNDS * CONCURRENT * 0.9, `${issued.size} issued`);
    t.ok(existsSync(path));
    t.ok(readdirSync(`${folders}/keys`).length < 400, 'kills leave few temporary files');
  },
);
