#!/usr/bin/env node
import { checkNode } from './cli/engine.ts';
import { StartError } from './domain/start-error.ts';

try {
  checkNode(process.versions.node);
  const { runCommandLine } = await import('./cli/cli.ts');
  await runCommandLine(process.argv);
} catch (thrown) {
  const expected = thrown instanceof StartError;
  const message = expected ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown);
  process.stderr.write(`slotgate: ${message}\n`);
  process.exit(expected ? thrown.exitCode : 1);
}
