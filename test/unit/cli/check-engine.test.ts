import t from 'tap';
import { checkNodeVersion, loadEngine } from '../../../src/cli/check-engine.ts';
import { StartError } from '../../../src/domain/start-error.ts';

t.test('a Node older than 20.19 is refused, whatever else works', async (t) => {
  for (const version of ['16.20.2', '18.20.4', '20.9.0', '20.18.3'])
    t.throws(() => checkNodeVersion(version), StartError);
  for (const version of ['20.19.0', '20.20.2', '21.0.0', '22.11.0', '24.1.0'])
    t.doesNotThrow(() => checkNodeVersion(version));
});

t.test(
  'an engine that does not load is explained in one line: its Node versions, and where to get others',
  async (t) => {
    const load = async (): Promise<unknown> => {
      throw new Error("Cannot find module './uws_linux_x64_137.node'\nRequire stack:\n- …");
    };
    const install = 'npm install uNetworking/uWebSockets.js#v20.52.0';
    await t.rejects(loadEngine(load, '24.1.0'), { exitCode: 1, message: /^[^\n]+ Node 18, 20, 21 and 22 [^\n]+$/ });
    await t.rejects(loadEngine(load, '24.1.0'), { exitCode: 1, message: install });
  },
);

t.test('an engine that loads is accepted on any newer Node', async (t) => {
  await t.resolves(loadEngine(async () => ({}), '24.1.0'));
});
