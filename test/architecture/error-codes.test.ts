import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ERRORS } from '../../src/domain/gateway-error.ts';

const FOLDER = fileURLToPath(new URL('../../../test/e2e/', import.meta.url)); // from dist/test/architecture

t.test('each error code is provoked by a test at the public door', (t) => {
  const files = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));
  const isExpected = (code: string): boolean => files.some((text) => new RegExp(`['"/ ]${code}['"$/ |)]`).test(text));
  t.same(
    Object.keys(ERRORS).filter((code) => !isExpected(code)),
    [],
  );
  t.end();
});
