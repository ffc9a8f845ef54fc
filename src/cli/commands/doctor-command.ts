import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { operatorsIn } from '../../config/operators.ts';
import { extractSecrets } from '../../config/secret-variables.ts';
import { redactUrl } from '../../config/upstreams-schema.ts';
import { extractKeySource } from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { type Finding, fail, ok, reasonOf, type Verdict } from '../doctor/finding.ts';
import { checkEngine, checkMachine } from '../doctor/machine-checks.ts';
import { checkNode, checkOperators, compareNodes, type NodeReport } from '../doctor/node-checks.ts';
import { NodeProbe } from '../doctor/node-probe.ts';
import { Progress } from '../terminal/progress.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { seconds } from './receipt-option-values.ts';

interface DoctorFlags {
  readonly json?: true;
  readonly timeout: number;
}

/** About the number of checks of one node. */
const CHECKS_PER_NODE = 11;

export function addDoctorCommand(program: Command, configOf: (command: Command) => Config): void {
  program
    .command('doctor')
    .description('check this machine, the settings and each node; name what is wrong, and how to fix it')
    .option('--json', 'print one JSON object: the findings, each with verdict, name, finding and fix')
    .option('--timeout <seconds>', 'the longest time for all nodes', seconds, 20)
    .action(async ({ json, timeout }: DoctorFlags, command: Command) => {
      const findings = await examine(() => configOf(command), timeout * 1000);
      process.stdout.write(json === true ? `${JSON.stringify({ findings })}\n` : formatFindings(findings));
      const failed = findings.filter(({ verdict }) => verdict === 'fail').length;
      if (failed > 0) throw new StartError(1, `${failed} of ${findings.length} checks have failed`);
    });
}

async function examine(loadConfig: () => Config, timeoutMs: number) {
  const findings: Finding[] = [ok('Node', process.versions.node)]; // an older one does not come this far
  let config: Config;
  try {
    config = loadConfig();
  } catch (thrown) {
    return [...findings, fail('settings', reasonOf(thrown), 'correct them where the message says they come from')];
  }
  const env = { ...process.env };
  const receiptKey = extractKeySource(process.env);
  const secrets = extractSecrets(process.env);
  const nodes = config.upstreams;
  findings.push(ok('settings', 'valid'), await checkEngine(config));
  findings.push(...(await checkMachine({ config, receiptKey, secrets, env, nowMs: systemClock.now() })));
  return [...findings, ...(await examineNodes(config, nodes, timeoutMs))];
}

async function examineNodes(config: Config, nodes: Config['upstreams'], timeoutMs: number) {
  const { cluster } = config;
  if (nodes.length === 0) return [ok('nodes', 'none are set: the embedded cluster is used')];
  const total = nodes.length * CHECKS_PER_NODE;
  const progress = new Progress({ output: process.stderr, clock: systemClock, what: 'checking the nodes', total });
  const limit = new AbortController();
  const cancel = systemClock.after(timeoutMs, () => limit.abort());
  const reports: readonly NodeReport[] = await Promise.all(
    nodes.map((node) =>
      checkNode(node, new NodeProbe(node, systemClock, limit.signal), {
        expected: cluster,
        clock: systemClock,
        timeoutMs,
        onCheck: (what) => progress.advance(1, what),
      }),
    ),
  );
  cancel();
  progress.end();
  const named = nodes.map(({ id, url, wsUrl }) => ok(id, `${redactUrl(url)}, ${redactUrl(wsUrl)}`));
  const ofNodes = named.flatMap((name, at) => [name, ...(reports[at]?.findings ?? [])]);
  return [...ofNodes, ...compareNodes(reports), checkOperators(operatorsIn(config))];
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<Verdict, string>;

function formatFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ verdict, name, finding, fix }) => {
    const line = `${styleText(COLOURS[verdict], verdict.padEnd(4))}  ${name.padEnd(width)}  ${terminalText(finding)}`;
    return fix === undefined ? line : `${line}\n${' '.repeat(width + 8)}fix: ${terminalText(fix)}`;
  });
  return `${lines.join('\n')}\n`;
}
