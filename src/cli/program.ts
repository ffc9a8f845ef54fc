import { Command, CommanderError } from 'commander';
import type { Config } from '../config/config-schema.ts';
import type { ConfigFlags } from '../config/config-sources.ts';
import { type ConfigSources, describeFormerSettings, isChosen, loadConfig } from '../config/load-config.ts';
import { operatorsIn } from '../config/operators.ts';
import { extractSecrets } from '../config/secret-variables.ts';
import { describeServiceLinks } from '../config/service-links.ts';
import { extractKeySource, openEngine, startEmbedded } from '../gateway/index.ts';
import { StartError } from '../shared/domain/start-error.ts';
import { createLog } from '../shared/runtime/log.ts';
import { version } from '../shared/runtime/package.ts';
import { repeat } from '../shared/runtime/repeat.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { addCompletionCommand } from './commands/completion-command.ts';
import { addConfigCommands } from './commands/config-commands.ts';
import { addCommandGroup, unknownChoiceMessage, unknownFlagError } from './commands/did-you-mean.ts';
import { addDoctorCommand } from './commands/doctor-command.ts';
import { addGetCommand } from './commands/get-command.ts';
import { addKeysCommands } from './commands/keys-commands.ts';
import { addReceiptKeyCommands } from './commands/receipt-key-commands.ts';
import { addReceiptVerifyCommand } from './commands/receipt-verify-command.ts';
import { addStakeCommands } from './commands/stake-commands.ts';
import { addWatchCommand } from './commands/watch-command.ts';
import { logListening, type RunningGateway, runUntilSignal } from './run-process.ts';
import { formatBanner } from './start-banner.ts';
import { startWithWorkers } from './start-with-workers.ts';
import { Progress } from './terminal/progress.ts';

const HELP_FOOTER = `
Every setting has a variable too: SLOTGATE_LIMITS_FREE_UNITS is limits.free.units. The file overrides the
defaults, variables override the file, and flags override variables. "slotgate config print" prints the settings in
force, "slotgate config schema" what each one means.`;

/** Runs the command line. Throws a StartError if it is invalid or fails. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return; // help or version was printed
    const [, flag] = (thrown.code === 'commander.unknownOption' && /'(-[^'=]*)/.exec(thrown.message)) || [];
    if (thrown.code === 'commander.help') throw new StartError(64, 'a command is missing');
    if (flag === undefined) throw new StartError(64, thrown.message.replace(/^error: /, '').replaceAll('\n', ' '));
    throw unknownFlagError(program, argv, flag);
  }
}

function createProgram(): Command {
  const program = new Command('slotgate')
    .description('A read-only HTTP JSON gateway over a Solana cluster.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // the caller of parseAsync reports errors
    .configureHelp({ showGlobalOptions: true })
    .option('--config <name|path>', 'settings that override the defaults: mainnet, devnet, or a JSON file')
    .option('--host <address>', 'address to listen on')
    .option('--port <number>', 'port to listen on, 0 for a free one')
    .option('--admin-port <number>', 'port of metrics, probes and status, 0 for a free one, null for none')
    .option('--state, --data-dir <dir>', 'folder of keys and usage, which outlives the process')
    .option('--workers <count>', 'worker processes behind the port, 0 for a single process, or auto')
    .option('--upstream <url>', 'a Solana node: URL or URL,WEBSOCKET-URL; may be repeated', appended)
    .option('--geyser <url>', 'the Geyser gRPC feed of the first node, such as http://127.0.0.1:10000')
    .option('--redis <url>', 'the Redis that the gateways of a fleet share')
    .option('--set <name=value>', 'any setting, such as limits.free.units=50; may be repeated', appended)
    .addHelpText('after', HELP_FOOTER);

  program
    .command('start', { isDefault: true })
    .description('serve; without an upstream, over an embedded cluster')
    .allowExcessArguments()
    .action(async (_, command: Command) => {
      const [unknown] = command.args; // a mistyped command arrives here, as start is the default
      const commands = program.commands.map((known) => known.name());
      if (unknown !== undefined) throw new StartError(64, unknownChoiceMessage('command', unknown, commands));
      await startGateway(configSourcesOf(command));
    });

  addDoctorCommand(program, configOf);
  addGetCommand(program, configOf);
  addWatchCommand(program, configOf);
  addConfigCommands(program, configOf);
  const receipt = addCommandGroup(program, 'receipt', 'verify receipts, and manage the keys that sign them');
  addReceiptKeyCommands(receipt, configOf);
  addReceiptVerifyCommand(receipt);
  addKeysCommands(program, configOf);
  addStakeCommands(program, configOf);
  addCompletionCommand(program);
  return program;
}

const appended = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

const configSourcesOf = (command: Command): ConfigSources => ({
  flags: command.optsWithGlobals<ConfigFlags>(),
  env: process.env,
  cwd: process.cwd(),
});

const configOf = (command: Command): Config => loadConfig(configSourcesOf(command));

async function startGateway(sources: ConfigSources): Promise<void> {
  const config = loadConfig(sources);
  process.title = 'slotgate'; // also removes the arguments, which may contain a node's key, from the list of processes
  const startedMs = systemClock.monotonic();
  const receiptKey = extractKeySource(process.env);
  const secrets = extractSecrets(process.env);

  const embedded = startEmbedded(config); // its thread loads while this one does
  embedded?.catch(() => {}); // openGateway throws the reason
  const { openGateway } = await import('../gateway/index.ts'); // while the cluster's thread loads
  const log = createLog(config.log.level);
  const engine = await openEngine(config, log);
  const warnings = [...describeFormerSettings(sources), describeServiceLinks(process.env) ?? []].flat();
  for (const warning of warnings) log.warn({}, warning);
  const waiting = new Progress({ output: process.stderr, clock: systemClock, what: 'waiting for the first answers' });
  const stopWaiting = repeat(systemClock, WAITING_MS, () => waiting.advance(0));
  const options = {
    config,
    loadConfig: () => loadConfig(sources),
    log,
    engine,
    receiptKey,
    secrets,
    embedded,
    isAdminPortChosen: isChosen(sources, ['admin', 'port']),
  };
  const open = (onFatal: (failure: StartError) => void): Promise<RunningGateway> =>
    (config.workers.count === 0 ? openGateway(options) : startWithWorkers(options, onFatal)).finally(() => {
      stopWaiting();
      waiting.end();
    });
  const announce = (gateway: RunningGateway): void => {
    process.title = `slotgate ${new URL(gateway.url).host}`; // distinguishes two of them in a list of processes
    if (process.stdout.isTTY !== true || config.log.level !== 'info') {
      logListening(gateway, log);
      return;
    }
    const startMs = systemClock.monotonic() - startedMs;
    process.stdout.write(
      formatBanner(gateway, { version, startMs, pages: config.pages ? PAGES : [], operators: operatorsIn(config) }),
    );
  };
  const closeMs = config.drainDelayMs + config.drainTimeoutMs + (config.workers.count === 0 ? 1_000 : 3_000);
  await runUntilSignal(open, log, closeMs, announce);
}

/** Pages for people, as a banner names them. */
const PAGES = ['/', '/docs', '/explorer', '/verify'];

/** Time between two looks of somebody who waits, in milliseconds. */
const WAITING_MS = 100;
