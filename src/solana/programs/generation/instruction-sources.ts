import { createHash } from 'node:crypto';
import { INSTRUCTION_ROLES } from '../instruction-roles.ts';
import { KNOWN_PROGRAMS } from '../known-programs.ts';
import { TRANSACTION_TYPES } from '../transaction-types.ts';

interface ProgramSource {
  /** The programs that have these instructions. */
  readonly programs: readonly string[];
  /** Where they are from, in the state of a commit. */
  readonly url: string;
  /** Day of that commit. */
  readonly date: string;
  readonly instructions: readonly InstructionSource[];
}

interface InstructionSource {
  readonly discriminator: string;
  readonly name: string;
  readonly type: string;
  readonly roles: readonly string[];
}

/**
 * Formats the module `program-instruction-table.ts` from the sources: files with a line for each program,
 * `program<TAB>ids<TAB>URL<TAB>date`, and below it one for each instruction, `name<TAB>discriminator<TAB>type<TAB>roles`,
 * where `-` is the discriminator that Anchor makes from the name, or no type. A line that starts with `#` is a comment.
 */
export function formatInstructionTable(files: readonly string[]): string {
  const sources = files.flatMap(readSources);
  const entries = sources.map(
    ({ programs, url, date, instructions }) =>
      `  // ${url} (${date})\n  ${formatKey(programs.join(' '))}: \`\n${instructions.map(formatLine).join('\n')}\n\`,\n`,
  );
  const ids = sources.flatMap(({ programs }) => programs);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`${twice} has two sources`);
  return `/**
 * Instructions by program: the first bytes of the data in hexadecimal, the maker's name, the type (\`-\`: none), positions
 * of accounts by role. Made by generation/generate-program-instructions.ts from generation/sources.
 */
export const PROGRAM_INSTRUCTIONS: Readonly<Record<string, string>> = {
${entries.join('')}};
`;
}

function readSources(file: string): ProgramSource[] {
  return file
    .split(/^program\t/m)
    .slice(1)
    .map((block) => {
      const [head = '', ...lines] = block
        .trimEnd()
        .split('\n')
        .filter((line) => !line.startsWith('#'));
      const [ids = '', url = '', date = ''] = head.split('\t');
      const programs = ids.split(' ');
      const instructions = lines.map(readInstruction);
      const discriminators = instructions.map(({ discriminator }) => discriminator);
      const faults = [
        ...programs.filter((id) => !KNOWN_PROGRAMS.has(id)).map((id) => `${id} is no known program`),
        ...(new Set(discriminators).size < discriminators.length
          ? ['two instructions have the same discriminator']
          : []),
        ...(/^https:\/\/\S+$/.test(url) && /^\d{4}-\d\d-\d\d$/.test(date) ? [] : ['the URL or the date is missing']),
      ];
      if (faults.length > 0) throw new Error(`${ids}: ${faults.join('; ')}`);
      return { programs, url, date, instructions };
    });
}

function readInstruction(line: string): InstructionSource {
  const [name = '', discriminator = '', type = '', roles = ''] = line.split('\t');
  const source = {
    name,
    discriminator: discriminator === '-' ? anchorDiscriminator(name) : discriminator,
    type,
    roles: roles.split(' ').filter((role) => role !== ''),
  };
  const isValid =
    /^\w+$/.test(name) &&
    /^([0-9a-f]{2}){1,8}$/.test(source.discriminator) &&
    (type === '-' || Object.hasOwn(TRANSACTION_TYPES, type)) &&
    source.roles.every((role) => /^\w+=\d+$/.test(role) && Object.hasOwn(INSTRUCTION_ROLES, role.split('=')[0] ?? ''));
  if (!isValid) throw new Error(`no instruction: ${line}`);
  return source;
}

/** https://www.anchor-lang.com/docs/basics/idl#discriminators */
const anchorDiscriminator = (name: string): string =>
  createHash('sha256').update(`global:${name}`).digest('hex').slice(0, 16);

const formatLine = ({ discriminator, name, type, roles }: InstructionSource): string =>
  [discriminator, name, type, ...roles].join(' ');

const formatKey = (ids: string): string => (/^[A-Za-z]\w*$/.test(ids) ? ids : `'${ids}'`);
