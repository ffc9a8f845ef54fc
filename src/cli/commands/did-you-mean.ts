import type { Argument, Command, Option } from 'commander';
import { unknownNameMessage } from '../../config/config-errors.ts';
import { StartError } from '../../shared/domain/start-error.ts';

/** Makes a command have subcommands only. Without one of them, or with another name, it says which there are. */
export function asGroup(group: Command): Command {
  group.hook('preSubcommand', (_, subcommand) => {
    if (subcommand.commands.length === 0) subcommand.allowExcessArguments(false); // else it allows what its group does
  });
  return group.allowExcessArguments().action(() => {
    const path = pathOf(group);
    const names = group.commands.map((known) => known.name());
    const [unknown] = group.args;
    if (unknown === undefined) throw new StartError(64, `${path} needs one of ${names.join(', ')}`);
    const known = names.map((known) => `${path} ${known}`);
    throw new StartError(64, unknownChoiceMessage('command', `${path} ${unknown}`, known));
  });
}

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

export function withChoices<T extends Option | Argument>(target: T, kind: string, names: readonly string[]): T {
  target.choices(names).argParser((text: string) => {
    if (names.includes(text)) return text;
    throw new StartError(64, unknownChoiceMessage(kind, text, names));
  });
  return target;
}

export const unknownChoiceMessage = (kind: string, text: string, names: readonly string[]): string =>
  `${unknownNameMessage(kind, text, names)} (of ${names.join(', ')})`;

/** Returns the error for a flag that the command of a command line does not have. */
export function unknownFlagError(program: Command, argv: readonly string[], flag: string): StartError {
  const command = commandOf(program, argv);
  const flags = [...new Set([program, command])].flatMap(({ options }) => options.flatMap(({ long }) => long ?? []));
  const see = `; see ${helpNameOf(program, argv)}`;
  return new StartError(64, unknownNameMessage('flag', flag, [...flags, '--help'], see));
}

/** Names the help of the command of a command line. */
export function helpNameOf(program: Command, argv: readonly string[]): string {
  const command = commandOf(program, argv);
  return `${program.name()}${command === program ? '' : ` ${pathOf(command)}`} --help`;
}

function commandOf(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (const word of argv) command = command.commands.find((known) => known.name() === word) ?? command;
  return command;
}
