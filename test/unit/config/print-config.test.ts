import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { valueAt } from '../../../src/config/config-layers.ts';
import { configSchema } from '../../../src/config/config-schema.ts';
import { formatConfigSchema } from '../../../src/config/print-config.ts';
import { settingsOf } from '../../../src/config/setting-names.ts';
import { packageFile } from '../../../src/runtime/package.ts';
import { runSlotgate } from '../../support/run-slotgate.ts';

const schema = JSON.parse(formatConfigSchema());
const packaged = (name: string): unknown => JSON.parse(readFileSync(packageFile(`config/${name}.json`), 'utf8'));
const settings = settingsOf(configSchema);

/** Returns the schema of a setting or section. */
const schemaAt = (path: readonly string[]): Record<string, unknown> =>
  path.reduce((section, name) => section.properties[name], schema);

t.test('each setting has a description that ends like a sentence, and its default', async (t) => {
  for (const { name, path } of settings) {
    const setting = schemaAt(path);
    t.match(setting['description'], /^[A-Z].{10,}\.$/, name);
    t.same(setting['default'], valueAt(packaged('default'), path), name);
  }
});

t.test('each section has a description', async (t) => {
  for (const { path } of settings) {
    for (let depth = 1; depth < path.length; depth++) {
      t.match(schemaAt(path.slice(0, depth))['description'], /^[A-Z].{4,}\.$/, path.slice(0, depth).join('.'));
    }
  }
});

t.test('the schema accepts the packaged files and refuses what a start refuses', async (t) => {
  const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(schema);
  for (const name of ['default', 'mainnet', 'devnet']) t.ok(validate(packaged(name)), name);
  t.ok(validate({ upstreams: ['http://127.0.0.1:8899', { url: 'http://127.0.0.1:8899', weight: 2 }] }));
  t.notOk(validate({ limits: { free: { requets: 1 } } }), 'an unknown setting');
  t.notOk(validate({ port: 65_536 }), 'a value out of range');
  t.notOk(validate({ upstreams: [{ ws: 'ws://127.0.0.1:8900' }] }), 'a node without a URL');
});

t.test('config schema prints it, whatever the settings in force', async (t) => {
  t.same(await runSlotgate(['config', 'schema', '--port', 'none']), { code: 0, out: formatConfigSchema(), err: '' });
});
