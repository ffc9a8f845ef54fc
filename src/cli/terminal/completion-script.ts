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

const flagsOf = (nodes: readonly CompletionNode[]): readonly CompletionNode['flags'][number][] => [
  ...new Map(nodes.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag])).values(),
];

const commandPattern = (nodes: readonly CompletionNode[]): string =>
  nodes
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path.includes(' ') ? path : ` ${path}`))
    .join('|');

const bashCompletion: FormatCompletion = (nodes) => `# bash completion of slotgate
_slotgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in ${commandPattern(nodes)}) at="\${at:+$at }$word" ;; esac
  done
  case "$previous" in
${valueCases(nodes, (choices) => `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$current"))`)}
  esac
  case "$at" in
${nodes
  .map(({ path, commands, values, flags }) => {
    const words = [...commands, ...flags].map(({ name }) => name).concat(values);
    return `    ${quoted(path)}) COMPREPLY=($(compgen -W ${quoted(words.join(' '))} -- "$current")) ;;`;
  })
  .join('\n')}
  esac
}
complete -o bashdefault -o default -F _slotgate slotgate
`;

const valueCases = (nodes: readonly CompletionNode[], format: (choices: readonly string[]) => string): string =>
  flagsOf(nodes)
    .filter(({ takesValue }) => takesValue)
    .map(({ name, choices }) => `    ${name}) ${choices.length === 0 ? '' : `${format(choices)}; `}return ;;`)
    .join('\n');

const zshCompletion: FormatCompletion = (nodes) => `#compdef slotgate
_slotgate() {
  local at='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in (${commandPattern(nodes)}) at="\${at:+$at }$word" ;; esac
  done
  case "\${words[CURRENT-1]}" in
${flagsOf(nodes)
  .filter(({ takesValue }) => takesValue)
  .map(
    ({ name, choices }) =>
      `    (${name}) ${choices.length === 0 ? '_files' : `compadd -- ${choices.join(' ')}`}; return ;;`,
  )
  .join('\n')}
  esac
  local -a names flags
  case "$at" in
${nodes
  .map(({ path, commands, values, flags }) => {
    const names = [...commands.map(described), ...values.map((value) => quoted(value.replaceAll(':', '\\:')))];
    return `    (${quoted(path)}) names=(${names.join(' ')}); flags=(${flags.map(described).join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  _describe command names
  _describe flag flags
}
if [ "$funcstack[1]" = "_slotgate" ]; then _slotgate "$@"; else compdef _slotgate slotgate; fi
`;

const described = ({ name, description }: Named): string => quoted(`${name}:${description.replaceAll(':', '\\:')}`);

const fishCompletion: FormatCompletion = (nodes) => `# fish completion of slotgate
function __slotgate_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${commandPattern(nodes).replaceAll('|', ' ')}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv"
end
complete -c slotgate -f
${nodes
  .flatMap(({ path, commands, values, flags }) => {
    const when = `complete -c slotgate -n ${quoted(`__slotgate_at ${quoted(path)}`)}`;
    return [
      ...commands.map(({ name, description }) => `${when} -a ${name} -d ${quoted(description)}`),
      ...values.map((value) => `${when} -a ${quoted(value)}`),
      ...flags.map(({ name, description, takesValue, choices }) =>
        [
          `${when} -l ${name.slice(2)} -d ${quoted(description)}`,
          takesValue && (choices.length > 0 ? `-x -a ${quoted(choices.join(' '))}` : '-r -F'),
        ]
          .filter((part) => part !== false)
          .join(' '),
      ),
    ];
  })
  .join('\n')}
`;

export const COMPLETION_FORMATS: ReadonlyMap<string, FormatCompletion> = new Map([
  ['bash', bashCompletion],
  ['zsh', zshCompletion],
  ['fish', fishCompletion],
]);
