import t from 'tap';
import { loadEngine, type Machine, whyNotLoadable } from '../../../src/http/load-engine.ts';

const DEBIAN_13: Machine = { node: '24.21.0', abi: '137', platform: 'linux', arch: 'x64', glibc: '2.41' };

t.test('the binaries of each package are judged by system, ABI and glibc', async (t) => {
  const cases: readonly (readonly [change: Partial<Machine>, uws: string, pack: string])[] = [
    [{}, '', 'Node 20, 21, 22, and this is 24.21.0'],
    [{ abi: '127', node: '22.23.3' }, '', ''],
    [{ abi: '115', glibc: '2.36' }, 'it needs glibc 2.38, and this system has 2.36', ''],
    [{ abi: '115', glibc: '2.17' }, 'it needs glibc 2.38', 'it needs glibc 2.27, and this system has 2.17'],
    [{ abi: '115', glibc: undefined }, 'another C library', 'another C library'],
    [{ abi: '147', node: '26.10.0' }, 'Node 20, 22, 24, 25, and this is 26.10.0', 'this is 26.10.0'],
    [{ abi: '120', node: '21.7.0' }, 'this is 21.7.0', ''],
    [{ abi: '127', platform: 'darwin', arch: 'arm64', glibc: undefined }, '', ''],
    [{ abi: '127', platform: 'win32', glibc: undefined }, '', ''],
    [{ abi: '127', platform: 'win32', arch: 'arm64', glibc: undefined }, 'no binary for win32 arm64', 'win32 arm64'],
  ];
  for (const [change, uws, pack] of cases) {
    const machine = { ...DEBIAN_13, ...change };
    const expect = (reason: string | undefined, expected: string): void => {
      if (expected === '') t.equal(reason, undefined, JSON.stringify(change));
      else t.match(reason, expected);
    };
    expect(whyNotLoadable('uws', machine), uws);
    expect(whyNotLoadable('uws-pack', machine), pack);
  }
});

t.test(
  'auto names why each engine before the loaded one does not load, and what the loaded one does worse',
  async (t) => {
    const { engine, skipped, drawback } = await loadEngine('auto', { ...DEBIAN_13, abi: '147', node: '26.10.0' });
    t.equal(engine.name, 'node');
    t.equal(engine.version, process.versions.node);
    t.match(skipped, [
      /^uws: it has binaries for Node 20, 22, 24, 25/,
      /^uws-pack: it has binaries for Node 20, 21, 22/,
    ]);
    t.match(drawback, 'node:http answers about');
  },
);

t.test('an engine that was chosen and does not load ends the start with the reason', async (t) => {
  const alpine = { ...DEBIAN_13, glibc: undefined };
  await t.rejects(loadEngine('uws', alpine), { exitCode: 78, message: /^http\.engine is uws, .*another C library$/ });
});

t.test('node is no drawback for who chose it', async (t) => {
  t.match(await loadEngine('node', DEBIAN_13), { engine: { name: 'node' }, skipped: [], drawback: undefined });
});
