import { readFileSync } from 'node:fs';

interface Named {
  readonly name: string;
  readonly description: string;
}

export interface CompletionNode {
  /** The words of the command below the program, with blanks; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Named[];
  readonly values: readonly string[];
  readonly flags: readonly (Named & { readonly takesValue: boolean; readonly choices: readonly string[] })[];
}

type FormatCompletion = (nodes: readonly CompletionNode[]) => string;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const flagsWithValue = (nodes: readonly CompletionNode[]): readonly CompletionNode['flags'][number][] =>
  [...new Map(nodes.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag])).values()].filter(
    ({ takesValue }) => takesValue,
  );

const commandPatterns = (nodes: readonly CompletionNode[]): readonly string[] =>
  nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path.includes(' ') ? path : ` ${path}`));

/** The flags behind which a word is a value, and no command. */
const valuedPatterns = (nodes: readonly CompletionNode[]): readonly string[] =>
  flagsWithValue(nodes).map(({ name }) => name);

/** Fills in the places of a script, each with its lines. */
const fill = (file: string, places: Readonly<Record<string, readonly string[]>>): string =>
  readFileSync(new URL(`data/${file}`, import.meta.url), 'utf8').replace(/\{\{(\w+)\}\}/g, (_, place: string) =>
    (places[place] ?? []).join('\n'),
  );

const bashCompletion: FormatCompletion = (nodes) => {
  const reply = (words: readonly string[]) => `COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$current"))`;
  return fill('completion.bash', {
    commands: [commandPatterns(nodes).join('|')],
    valued: [valuedPatterns(nodes).join('|')],
    values: flagsWithValue(nodes).map(
      ({ name, choices }) => `    ${name}) ${choices.length === 0 ? '' : `${reply(choices)}; `}return ;;`,
    ),
    words: nodes.map(({ path, commands, values, flags }) => {
      const words = [...commands, ...flags].map(({ name }) => name).concat(values);
      return `    ${quoted(path)}) ${reply(words)} ;;`;
    }),
  });
};

const zshCompletion: FormatCompletion = (nodes) =>
  fill('completion.zsh', {
    commands: [commandPatterns(nodes).join('|')],
    valued: [valuedPatterns(nodes).join('|')],
    values: flagsWithValue(nodes).map(
      ({ name, choices }) =>
        `    (${name}) ${choices.length === 0 ? '_files' : `compadd -- ${choices.join(' ')}`}; return ;;`,
    ),
    words: nodes.map(({ path, commands, values, flags }) => {
      const names = [...commands.map(described), ...values.map((value) => quoted(value.replaceAll(':', '\\:')))];
      return `    (${quoted(path)}) names=(${names.join(' ')}); flags=(${flags.map(described).join(' ')}) ;;`;
    }),
  });

const described = ({ name, description }: Named): string => quoted(`${name}:${description.replaceAll(':', '\\:')}`);

const fishCompletion: FormatCompletion = (nodes) =>
  fill('completion.fish', {
    commands: [commandPatterns(nodes).join(' ')],
    valued: [valuedPatterns(nodes).join(' ')],
    words: nodes.flatMap(({ path, commands, values, flags }) => {
      const when = `complete -c slotgate -n ${quoted(`__slotgate_at ${quoted(path)}`)}`;
      return [
        ...commands.map(({ name, description }) => `${when} -a ${name} -d ${quoted(description)}`),
        ...values.map((value) => `${when} -a ${quoted(value)}`),
        ...flags.map(({ name, description, takesValue, choices }) => {
          const value = choices.length > 0 ? `-x -a ${quoted(choices.join(' '))}` : '-r -F';
          return `${when} -l ${name.slice(2)} -d ${quoted(description)}${takesValue ? ` ${value}` : ''}`;
        }),
      ];
    }),
  });

export const COMPLETION_FORMATS: ReadonlyMap<string, FormatCompletion> = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
]);
