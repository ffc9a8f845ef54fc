import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routes } from '../routes/index.ts';
import { routeTypesText, topicTypesText } from './route-types-text.ts';

// Run by the build after the compiler, with the folder of the package and that of the declarations of what runs in browsers:
// writes all of the package but its code, which the bundler does.

const [, , target = '', pageTypes = ''] = process.argv;
const source = fileURLToPath(new URL('../../../../src/client/', import.meta.url)); // this file is as deep as in the sources
const compiled = fileURLToPath(new URL('../../', import.meta.url));

/** The declarations that a user imports, below which all others are found, and the folders that the compiler wrote them to. */
const ROOTS = [
  ['client/client.d.ts', compiled],
  ['client/verify/verify-receipt.d.ts', compiled],
  ['pages/widget/module.d.ts', pageTypes],
] as const;

/** Declarations that reach the server, and what stands for them. */
const REPLACED: Readonly<Record<string, string>> = {
  'client/route-types.d.ts': routeTypesText(routes),
  'gateway/routes/index.d.ts': topicTypesText(routes),
};

function copyDeclarations(file: string, from: string, done: Set<string>): void {
  if (done.has(file)) return;
  done.add(file);
  const text = REPLACED[file] ?? readFileSync(join(from, file), 'utf8').replace(/^\/\/# sourceMappingURL.*\n?/m, '');
  for (const [, specifier = ''] of text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm)) {
    if (!specifier.startsWith('.')) throw new Error(`the types of the client need ${specifier}, in ${file}`);
    copyDeclarations(join(dirname(file), specifier).replace(/\.ts$/, '.d.ts'), from, done);
  }
  const path = join(target, 'types', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replace(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
}

const done = new Set<string>();
for (const [root, from] of ROOTS) copyDeclarations(root, from, done);
for (const file of ['package.json', 'README.md']) copyFileSync(join(source, file), join(target, file));
