import { type ChildProgram, runModule } from './child-process.ts';
import type { TestScope } from './test-scope.ts';

/** Starts a child process that runs a stub gateway until a signal comes: the arguments are those of run-process-child.ts. */
export async function startStub(t: Pick<TestScope, 'teardown'>, ...args: readonly string[]): Promise<ChildProgram> {
  const child = runModule(new URL('./run-process-child.js', import.meta.url), args);
  t.teardown(() => child.process.kill('SIGKILL'));
  await child.waitForOutput(args.includes('slow') ? 'opening' : 'listening');
  return child;
}

export const logLines = (child: ChildProgram): unknown[] =>
  child
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
