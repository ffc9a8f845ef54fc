import { Command, CommanderError } from 'commander';
import { StartError } from '../shared/domain/start-error.ts';
import { version } from '../shared/runtime/package.ts';
import { goOnWithoutReader } from './closed-output.ts';
import { asGroup, helpNameOf, unknownChoiceMessage, unknownFlagError } from './commands/did-you-mean.ts';
import { examples } from './commands/examples.ts';

const HELP_FOOTER = `
Examples:
  slotgate                        serve over an embedded cluster, for a first look
  slotgate --config mainnet       serve mainnet
  slotgate get /epoch             read a gateway, and verify what it answers

Every setting has a variable too: SLOTGATE_LIMITS_FREE_UNITS is limits.free.units. The file overrides the
defaults, variables override the file, and flags override variables. "slotgate config print" prints the settings in
force, "slotgate config schema" what each one means.`;

interface CommandEntry {
  readonly name: string;
  readonly description: string;
  /** Declares its arguments, options and subcommands. Loaded for the commands that a command line names. */
  readonly load: (argv: readonly string[]) => Promise<(command: Command) => void>;
}

const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'doctor',
    description: 'check this machine, the settings and each node; name what is wrong, and how to fix it',
    load: async () => (await import('./commands/doctor-command.ts')).declareDoctor,
  },
  {
    name: 'get',
    description: 'read a gateway and verify the answer: an address, a signature, a slot, a name, or a route',
    load: async () => (await import('./commands/get-command.ts')).declareGet,
  },
  {
    name: 'watch',
    description: 'follow the network live, verified frame by frame; one JSON a line in a pipe',
    load: async () => (await import('./commands/watch-command.ts')).declareWatch,
  },
  {
    name: 'use',
    description: 'read from this gateway from now on, and pin the key and the cluster that it has now',
    load: async () => (await import('./commands/use-command.ts')).declareUse,
  },
  {
    name: 'config',
    description: 'print the settings in force, check them, or describe each',
    load: async () => (await import('./commands/config-commands.ts')).declareConfig,
  },
  {
    name: 'receipt',
    description: 'verify receipts, and manage the keys that sign them',
    async load(argv) {
      const { declareReceiptVerify } = await import('./commands/receipt-verify-command.ts');
      const isVerify = argv[argv.indexOf('receipt') + 1] === 'verify';
      const keys = isVerify ? undefined : await import('./commands/receipt-key-commands.ts'); // with all of a gateway
      return (receipt) => {
        const key = receipt.command('key').description('create, list and change the keys that sign receipts');
        keys?.declareReceiptKey(key);
        declareReceiptVerify(receipt.command('verify'));
        asGroup(receipt);
      };
    },
  },
  {
    name: 'keys',
    description: 'issue, list and revoke API keys, and show their usage',
    load: async () => (await import('./commands/keys-commands.ts')).declareKeys,
  },
  {
    name: 'stake',
    description: 'create and check proofs that a wallet is yours',
    load: async () => (await import('./commands/stake-commands.ts')).declareStake,
  },
  {
    name: 'completion',
    description: 'print the completion of a shell: source <(slotgate completion bash)',
    load: async () => (await import('./commands/completion-command.ts')).declareCompletion,
  },
];

/** Runs the command line. Throws a StartError if it is invalid or fails. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = await createProgram(argv);
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return; // help or version was printed
    const [, flag] = (thrown.code === 'commander.unknownOption' && /'(-[^'=]*)/.exec(thrown.message)) || [];
    if (thrown.code === 'commander.help') throw new StartError(64, 'a command is missing');
    if (flag === undefined) throw new StartError(64, `${usageFault(thrown.message)}; see ${helpNameOf(program, argv)}`);
    throw unknownFlagError(program, argv, flag);
  }
}

/** The messages of commander, and ours in their place. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^error: /, ''],
  [/\n/g, ' '],
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. (.*)$/, '$1 $2: $3'],
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument missing$/, 'the value of $1 is missing'],
  [/^required option '(--[\w-]+)[^']*' not specified$/, '$1 is missing'],
  [/^missing required argument '(.*)'$/, '<$1> is missing'],
  [/^(too many arguments for '.*')\. Expected (\d+) arguments? but got (\d+)\.$/, '$1: $3 instead of $2'],
];

const usageFault = (message: string): string =>
  FAULTS.reduce((text, [pattern, words]) => text.replace(pattern, words), message);

async function createProgram(argv: readonly string[]): Promise<Command> {
  const program = new Command('slotgate')
    .description('A read-only HTTP JSON gateway over a Solana cluster.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // the caller of parseAsync reports errors
    .option(
      '--config <name|path>',
      'settings that override the defaults: mainnet, devnet, two-operators, or a JSON file',
    )
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
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', examples('slotgate start', 'slotgate start --config mainnet --port 8080'))
    .allowExcessArguments()
    .action(async (_, command: Command) => {
      const [unknown] = command.args; // a mistyped command arrives here, as start is the default
      const commands = program.commands.map((known) => known.name());
      if (unknown !== undefined) throw new StartError(64, unknownChoiceMessage('command', unknown, commands));
      const [{ startGateway }, { configSourcesOf }] = await Promise.all([
        import('./start-gateway.ts'),
        import('./commands/config-of.ts'),
      ]);
      goOnWithoutReader();
      await startGateway(configSourcesOf(command));
    });

  const isWanted = (name: string): boolean => argv.includes(name) || argv.includes('completion');
  for (const { name, description, load } of COMMANDS) {
    const command = program.command(name).description(description);
    if (isWanted(name)) (await load(argv))(command);
  }
  return program;
}

const appended = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];
