import { Argument, Command, CommanderError } from 'commander';
import { unknownNameMessage } from '../config/config-errors.ts';
import { type Config, formatConfig, loadConfig } from '../config/config-schema.ts';
import type { ConfigFlags } from '../config/config-sources.ts';
import { StartError } from '../domain/start-error.ts';
import { extractKeySource } from '../receipts/keys/key-source.ts';
import { createLog } from '../runtime/log.ts';
import { version } from '../runtime/package.ts';
import { loadEngine } from './check-engine.ts';
import { addKeysCommands } from './commands/keys-commands.ts';
import { addReceiptCommands } from './commands/receipt-commands.ts';
import { addStakeCommands } from './commands/stake-commands.ts';
import { runUntilSignal } from './run-process.ts';

const HELP_FOOTER = `
Every setting has a variable too: SLOTGATE_LIMITS_FREE_REQUESTS is limits.free.requests. Over the defaults goes the
file, over that the variables, over those the flags. "slotgate config print" shows what comes of it.`;

/** Does what the command line says. Throws a StartError when it can't be understood or can't be done. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return; // it has shown the help or the version
    const [, flag] = (thrown.code === 'commander.unknownOption' && /'(-[^'=]*)/.exec(thrown.message)) || [];
    if (thrown.code === 'commander.help') throw new StartError(64, 'a command is missing');
    if (flag === undefined) throw new StartError(64, thrown.message.replace(/^error: /, '').replaceAll('\n', ' '));
    throw new StartError(64, unknownNameMessage('flag', flag, flagsOf(program)));
  }
}

const flagsOf = ({ options, commands }: Command): readonly string[] => [
  ...options.flatMap(({ long }) => long ?? []),
  ...commands.flatMap(flagsOf),
];

function createProgram(): Command {
  const program = new Command('slotgate')
    .description('A read-only HTTP JSON gateway over a Solana cluster.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // the one who catches says it
    .configureHelp({ showGlobalOptions: true })
    .option('--config <name|path>', 'settings to lay over the defaults: mainnet, devnet, or a JSON file')
    .option('--host <address>', 'address to listen on')
    .option('--port <number>', 'port to listen on, 0 for a free one')
    .option('--state <dir>', 'directory of what outlives the process')
    .option('--upstream <url>', 'a Solana node: URL or URL,WEBSOCKET-URL; may be repeated', appended)
    .option('--set <name=value>', 'any setting, such as limits.free.requests=50; may be repeated', appended)
    .addHelpText('after', HELP_FOOTER);

  program
    .command('start', { isDefault: true })
    .description('serve; without an upstream, over an embedded cluster')
    .allowExcessArguments()
    .action(async (_, command: Command) => {
      const [unknown] = command.args; // a mistyped command comes here, as start is the default
      const commands = program.commands.map((known) => known.name());
      if (unknown !== undefined) throw new StartError(64, unknownNameMessage('command', unknown, commands));
      await startGateway(configOf(command));
    });

  program
    .command('config')
    .description('show the settings that are in force, or only check them')
    .addArgument(new Argument('<action>').choices(['print', 'check']))
    .action((action: 'print' | 'check', _, command: Command) => {
      const config = configOf(command);
      process.stdout.write(action === 'print' ? formatConfig(config) : 'the configuration is valid\n');
    });

  addReceiptCommands(program, configOf);
  addKeysCommands(program, (command) => configOf(command).state);
  addStakeCommands(program, configOf);
  return program;
}

const appended = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

const configOf = (command: Command): Config =>
  loadConfig({ flags: command.optsWithGlobals<ConfigFlags>(), env: process.env, cwd: process.cwd() });

async function startGateway(config: Config): Promise<void> {
  process.title = 'slotgate'; // also takes the arguments, which may hold a node's key, out of the list of processes
  const receiptKey = extractKeySource(process.env);

  await loadEngine(() => import('uWebSockets.js'), process.versions.node);
  const { createGateway } = await import('../gateway.ts'); // after the engine, whose absence it couldn't explain
  const log = createLog(config.log.level);
  await runUntilSignal(() => createGateway({ config, log, receiptKey }), log, config.drainMs + 5_000);
}
