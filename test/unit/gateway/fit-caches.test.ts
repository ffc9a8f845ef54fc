import t from 'tap';
import { loadConfig } from '../../../src/config/load-config.ts';
import { fitCaches } from '../../../src/gateway/fit-caches.ts';

const MIB = 1 << 20;

t.test('caches take a third of the heap at most, and it is told', async (t) => {
  const alone = loadConfig({ cwd: '/' });
  const withWorkers = { ...alone, workers: { count: 2, cacheBytes: 200 * MIB } };
  const fitted: string[] = [];
  const fit = (config: typeof alone, heapMib: number) =>
    fitCaches(config, (setting) => fitted.push(setting), heapMib * MIB);
  t.strictSame(fit(withWorkers, 4096), withWorkers);
  t.strictSame(fitted, []);
  const { cache, workers } = fit(alone, 300);
  t.equal(cache.bytes, 100 * MIB);
  t.strictSame(workers, alone.workers);
  t.strictSame(fitted, ['cache.bytes']);
  t.equal(fit(withWorkers, 300).workers.cacheBytes, 100 * MIB);
});
