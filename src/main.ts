#!/usr/bin/env node
import { checkNodeVersion } from './cli/check-node-version.ts';
import { endWithoutReader } from './cli/closed-output.ts';
import { StartError } from './shared/domain/start-error.ts';
import { visibleText } from './shared/domain/visible-text.ts';

try {
  checkNodeVersion(process.versions.node);
  endWithoutReader();
  const { runCommandLine } = await import('./cli/program.ts');
  await runCommandLine(process.argv);
} catch (thrown) {
  const isSystem = thrown instanceof Error && 'syscall' in thrown; // it names the path or the address, and no code of ours
  const isExpected = thrown instanceof StartError;
  const message = isExpected || isSystem ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown);
  process.stderr.write(`slotgate: ${visibleText(message ?? '')}\n`); // a caller or a gateway may have written some of it
  process.exit(isExpected ? thrown.exitCode : 1);
}
