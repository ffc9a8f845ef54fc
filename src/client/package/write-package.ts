import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routes } from '../../routes/index.ts';
import { routeTypesText, topicTypesText } from './route-types-text.ts';

// Run by the build after the compiler, with the folder of the package: writes all of it but its code, which the bundler does.

const [, , target = ''] = process.argv;
const source = fileURLToPath(new URL('../../../../src/client/', import.meta.url)); // this file is as deep as in the sources
const compiled = fileURLToPath(new URL('../../', import.meta.url));

/** The declarations that a user imports, below which all others are found. */
const ROOTS = ['client/client.d.ts', 'receipts/verify/verify-receipt.d.ts'];

/** Declarations that reach the server, and what stands for them. */
const REPLACED: Readonly<Record<string, string>> = {
  'client/route-types.d.ts': routeTypesText(routes),
  'routes/stream-topics.d.ts': topicTypesText(routes),
};

/** Copies a declaration and all that it imports. Throws if one needs a package, which users would have to install. */
function copyDeclarations(file: string, done: Set<string>): void {
  if (done.has(file)) return;
  done.add(file);
  const text =
    REPLACED[file] ?? readFileSync(join(compiled, file), 'utf8').replace(/^\/\/# sourceMappingURL.*\n?/m, '');
  for (const [, specifier = ''] of text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm)) {
    if (!specifier.startsWith('.')) throw new Error(`the types of the client need ${specifier}, in ${file}`);
    copyDeclarations(join(dirname(file), specifier).replace(/\.ts$/, '.d.ts'), done);
  }
  const path = join(target, 'types', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replace(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
}

const done = new Set<string>();
for (const root of ROOTS) copyDeclarations(root, done);
for (const file of ['package.json', 'README.md']) copyFileSync(join(source, file), join(target, file));
