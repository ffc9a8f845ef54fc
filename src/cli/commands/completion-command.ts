import { Argument, type Command } from 'commander';
import { COMPLETION_FORMATS, type CompletionNode } from '../terminal/completion-script.ts';
import { withChoices } from './did-you-mean.ts';
import { examples } from './examples.ts';

/** Declares `slotgate completion`, which prints the completion of a shell; it is static and sends nothing. */
export function declareCompletion(command: Command): void {
  const shells = [...COMPLETION_FORMATS.keys()];
  const shell = withChoices(new Argument('<shell>', 'the shell'), 'shell', shells);
  command
    .addArgument(shell)
    .addHelpText(
      'after',
      examples(
        'source <(slotgate completion bash)',
        'slotgate completion fish > ~/.config/fish/completions/slotgate.fish',
      ),
    )
    .action(async (shell: string) => {
      const { routes } = await import('../../gateway/routes/index.ts'); // most commands do without them
      const paths = routes.filter(({ kind }) => kind !== 'post').map(({ path }) => path.replace(/:.*/, ''));
      const nodes = nodesOf(rootOf(command), '', new Map([['get', [...new Set(paths)]]]));
      process.stdout.write(COMPLETION_FORMATS.get(shell)?.(nodes) ?? '');
    });
}

function nodesOf(
  command: Command,
  path: string,
  values: ReadonlyMap<string, readonly string[]>,
): readonly CompletionNode[] {
  const globals = path === '' ? [] : rootOf(command).options;
  const node: CompletionNode = {
    path,
    commands: command.commands.map((known) => ({ name: known.name(), description: known.description() })),
    values: [...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []), ...(values.get(path) ?? [])],
    flags: [...command.options, ...globals.filter(({ long }) => long !== '--version')].flatMap(
      ({ short, long, description, required, optional, argChoices }) =>
        [short, long] // of two names, the first is the short one, whatever its length
          .filter((name) => name?.startsWith('--') === true)
          .map((name = '') => ({ name, description, takesValue: required || optional, choices: argChoices ?? [] })),
    ),
  };
  const below = command.commands.flatMap((known) => nodesOf(known, `${path} ${known.name()}`.trim(), values));
  return [node, ...below];
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));
