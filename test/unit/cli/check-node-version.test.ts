import t from 'tap';
import { checkNodeVersion } from '../../../src/cli/check-node-version.ts';

t.test('a Node older than 20.19 is refused with both versions', async (t) => {
  for (const version of ['16.20.2', '18.20.4', '20.9.0', '20.18.3'])
    t.throws(() => checkNodeVersion(version), {
      exitCode: 1,
      message: `this is Node ${version}, and slotgate needs Node 20.19`,
    });
});

t.test('every newer Node is accepted', async (t) => {
  for (const version of ['20.19.0', '20.20.2', '21.0.0', '22.11.0', '24.1.0', '26.10.0'])
    t.doesNotThrow(() => checkNodeVersion(version));
});
