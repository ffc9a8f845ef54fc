interface Line {
  readonly indent: number;
  readonly text: string;
}

/**
 * Reads the part of YAML that the files of config/deploy keep to: maps and lists in block style, plain and double-quoted
 * values, `{}`. Returns its documents, of the types that the caller expects. Throws at anything else, so that it never reads a file otherwise than YAML does.
 */
export function readYaml<T extends readonly unknown[]>(text: string): T {
  const documents = text.split(/^---$/m).map((document) => {
    const lines = document.split('\n').flatMap((line) => {
      const code = line.replace(/(^|\s)#.*$/, '').trimEnd();
      if (code.includes('\t')) throw new Error(`a tab: ${line}`);
      return code === '' ? [] : [{ indent: code.search(/\S/), text: code.trimStart() }];
    });
    const value = readBlock(lines);
    if (lines.length > 0) throw new Error(`not in any block: ${lines[0]?.text}`);
    return value;
  });
  return documents as readonly unknown[] as T;
}

/** Takes the lines of a block off the front. */
function readBlock(lines: Line[]): unknown {
  const [{ indent, text } = { indent: 0, text: '' }] = lines;
  return text.startsWith('- ') ? readList(lines, indent) : readMap(lines, indent);
}

function readList(lines: Line[], indent: number): unknown[] {
  const values: unknown[] = [];
  while (lines[0]?.indent === indent && lines[0].text.startsWith('- ')) {
    const text = lines[0].text.slice(2);
    if (isMember(text)) {
      lines[0] = { indent: indent + 2, text };
      values.push(readMap(lines, indent + 2));
    } else {
      lines.shift();
      values.push(readScalar(text));
    }
  }
  return values;
}

function readMap(lines: Line[], indent: number): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  while (lines[0]?.indent === indent && !lines[0].text.startsWith('- ')) {
    const { text } = lines.shift() ?? { text: '' };
    const [, key, value = ''] = MEMBER.exec(text) ?? [];
    if (key === undefined || key in map) throw new Error(`not a new member: ${text}`);
    const isNested = value === '' && lines[0] !== undefined && lines[0].indent > indent;
    if (value === '' && !isNested) throw new Error(`a member without a value: ${text}`);
    map[key] = isNested ? readBlock(lines) : readScalar(value);
  }
  return map;
}

const MEMBER = /^([\w.-]+):(?: (.+))?$/;
const isMember = (text: string): boolean => /^[\w.-]+:( |$)/.test(text);

function readScalar(text: string): unknown {
  if (text === '{}') return {};
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^\d+$/.test(text)) return Number(text);
  if (/^"[^"\\]*"$/.test(text)) return text.slice(1, -1);
  if (/^[\w./][^"'#]*$/.test(text) && !/: |^(null|yes|no|on|off|~)$/i.test(text)) return text;
  throw new Error(`a value of another kind: ${text}`);
}
