import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTemporaryFolder } from './temporary-folder.ts';

const COMPILERS = ['cc', 'gcc', 'clang'];

/** Compiles a C source of bench/support. Returns the path of the program; undefined where there is no compiler. */
export function compileProgram(source: string): string | undefined {
  const compiler = COMPILERS.find((name) => spawnSync(name, ['--version']).status === 0);
  if (compiler === undefined) return undefined;
  const path = fileURLToPath(new URL(`../../../bench/support/${source}`, import.meta.url)); // from dist/bench/support
  const program = join(makeTemporaryFolder(), source.replace('.c', ''));
  const { status, stderr } = spawnSync(compiler, ['-O2', '-o', program, path, '-lm'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${compiler} does not compile ${source}: ${stderr}`);
  return program;
}
