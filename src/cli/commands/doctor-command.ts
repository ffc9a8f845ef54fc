import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { Config } from '../../config/config-schema.ts';
import { type ConfigSources, isChosen, loadConfig } from '../../config/load-config.ts';
import { operatorsIn } from '../../config/operators.ts';
import { redactUrl } from '../../config/redact-url.ts';
import { extractSecrets } from '../../config/secret-variables.ts';
import { extractKeySource } from '../../gateway/index.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { type Finding, fail, ok, type Verdict } from '../doctor/finding.ts';
import { checkEngine, checkMachine } from '../doctor/machine-checks.ts';
import { checkNode, checkOperators, compareNodes, type NodeReport } from '../doctor/node-checks.ts';
import { NodeProbe } from '../doctor/node-probe.ts';
import { Progress } from '../terminal/progress.ts';
import { configSourcesOf } from './config-of.ts';
import { examples } from './examples.ts';
import { seconds } from './receipt-option-values.ts';

interface DoctorFlags {
  readonly json?: true;
  readonly timeout: number;
}

/** About the number of checks of one node. */
const CHECKS_PER_NODE = 11;

export function declareDoctor(doctor: Command): void {
  doctor
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print one JSON object: the findings, each with verdict, name, finding and fix')
    .option('--timeout <seconds>', 'the longest time for all nodes', seconds, 20)
    .addHelpText(
      'after',
      examples('slotgate doctor --config mainnet', 'slotgate doctor --upstream https://NODE --json'),
    )
    .action(async ({ json, timeout }: DoctorFlags, command: Command) => {
      const groups = await examine(configSourcesOf(command), timeout * 1000);
      const findings = groups.flatMap(([, found]) => found);
      process.stdout.write(json === true ? `${JSON.stringify({ findings })}\n` : formatFindings(groups));
      const failed = countOf('fail', findings);
      if (failed > 0) throw new StartError(1, `${failed} of ${findings.length} checks have failed`);
    });
}

type Group = readonly [title: string, findings: readonly Finding[]];

async function examine(sources: ConfigSources, timeoutMs: number): Promise<readonly Group[]> {
  const node = ok('Node', process.versions.node); // an older one does not come this far
  let config: Config;
  try {
    config = loadConfig(sources);
  } catch (thrown) {
    const invalid = fail('settings', reasonOf(thrown), 'correct them where the message says they come from');
    return [['Machine and settings', [node, invalid]]];
  }
  process.title = 'slotgate doctor'; // as at a start: it removes the arguments, which may contain a node's key
  const env = { ...process.env };
  const receiptKey = extractKeySource(process.env);
  const secrets = extractSecrets(process.env);
  const isAdminPortChosen = isChosen(sources, ['admin', 'port']);
  const nowMs = systemClock.now();
  const machine = await checkMachine({ config, isAdminPortChosen, receiptKey, secrets, env, nowMs });
  return [
    ['Machine and settings', [node, ok('settings', 'valid'), await checkEngine(config), ...machine]],
    ['Nodes', await examineNodes(config, config.upstreams, timeoutMs)],
  ];
}

async function examineNodes(config: Config, nodes: Config['upstreams'], timeoutMs: number) {
  const { cluster } = config;
  if (nodes.length === 0)
    return cluster === null
      ? [ok('nodes', 'none are set: the embedded cluster is used')]
      : [
          fail(
            'nodes',
            `none are set, and an embedded cluster is never ${cluster}`,
            'name one, or set cluster to null',
          ),
        ];
  const total = nodes.length * CHECKS_PER_NODE;
  const progress = new Progress({ output: process.stderr, clock: systemClock, what: 'checking the nodes', total });
  const limit = new AbortController();
  const cancel = systemClock.after(timeoutMs, () => limit.abort());
  const reports: readonly NodeReport[] = await Promise.all(
    nodes.map((node) =>
      checkNode(node, new NodeProbe(node, systemClock, limit.signal, config.upstreamPolicy.maxBytes), {
        expected: cluster,
        clock: systemClock,
        timeoutMs,
        maxFeedBytes: config.ring.feedBytes,
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

const countOf = (wanted: Verdict, findings: readonly Finding[]): number =>
  findings.filter(({ verdict }) => verdict === wanted).length;

function formatFindings(groups: readonly Group[]): string {
  const findings = groups.flatMap(([, found]) => found);
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lineOf = ({ verdict, name, finding, fix }: Finding): string => {
    const line = `${styleText(COLOURS[verdict], verdict.padEnd(4))}  ${name.padEnd(width)}  ${visibleText(finding)}`;
    return fix === undefined ? line : `${line}\n${' '.repeat(width + 8)}fix: ${visibleText(fix)}`;
  };
  const [good, warnings, failures] = (['ok', 'warn', 'fail'] as const).map((verdict) => countOf(verdict, findings));
  const lines = groups.flatMap(([title, found]) => [styleText('bold', title), ...found.map(lineOf), '']);
  return `${lines.join('\n')}\n${good} ok, ${warnings} to look at, ${failures} failed\n`;
}
