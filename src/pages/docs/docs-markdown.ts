import { type ApiDocument, errorCodesOf, type Operation, operationsOf, parametersOf } from './api-document.ts';
import { type Chapter, docsPath, headingsOf, sectionId } from './chapters.ts';
import { ERROR_WORDS } from './error-words.ts';
import { formatParameterType, propertiesOf } from './schema-rows.ts';

/** Returns the whole reference in Markdown: what `/docs` shows, for editors, agents and terminals. */
export const docsMarkdown = (chapters: readonly Chapter[], document: ApiDocument): string =>
  `# slotgate ${document.info.version}\n\n${document.info.description}\n\n${chapters
    .map((chapter) => chapterMarkdown(chapter, document))
    .join('\n')}`;

function chapterMarkdown({ id, title, markdown }: Chapter, document: ApiDocument): string {
  const generated = id === 'routes' ? routesMarkdown(document) : id === 'errors' ? errorsMarkdown() : '';
  return [`## ${title}`, lowerHeadings(markdown), generated]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

const lowerHeadings = (markdown: string): string =>
  markdown
    .split(/(^```.*?^```$)/ms)
    .map((part) => (part.startsWith('```') ? part : part.replace(/^(#+) /gm, '#$1 ')))
    .join('');

const routesMarkdown = (document: ApiDocument): string =>
  operationsOf(document)
    .map((operation) => operationMarkdown(operation, document))
    .join('\n\n');

function operationMarkdown({ method, path, details }: Operation, document: ApiDocument): string {
  const { summary, description, responses } = details;
  const rows = parametersOf(details).map(
    ({ name, in: place, required, schema, description: text = '' }) =>
      `| \`${name}\`${required ? '' : ' (optional)'} | ${place} | ${cell(formatParameterType(schema))} | ${cell(text)} |`,
  );
  const result = propertiesOf(responses['200']?.content?.['application/json']?.schema, document).map(
    ({ path: name, type, description: text }) => `| \`${name}\` | ${cell(type)} | ${cell(text)} |`,
  );
  const codes = errorCodesOf(responses);
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${summary}.`,
    description,
    table('| parameter | in | type | meaning |', rows),
    table('| member | type | meaning |', result),
    codes.length > 0 && `Errors: ${codes.map((code) => `\`${code}\``).join(' ')}`,
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join('\n\n');
}

const table = (head: string, rows: readonly string[]): string =>
  rows.length === 0 ? '' : [head, head.replace(/[^|]+/g, '---'), ...rows].join('\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s*\n+\s*/g, ' ');

const errorsMarkdown = (): string =>
  ERROR_WORDS.map(({ code, statuses, meaning, fix, maySucceed }) => {
    const again = maySucceed ? ' The same request may succeed later.' : ' The same request fails again.';
    return `### ${code}\n\n${statuses}: ${meaning}. ${fix}${maySucceed === undefined ? '' : again}`;
  }).join('\n\n');

/** Returns `/llms.txt` (llmstxt.org): what there is to read about this gateway, and where. */
export function llmsText(chapters: readonly Chapter[], document: ApiDocument): string {
  const operations = operationsOf(document).map(
    ({ method, path, details }) =>
      `- [${method.toUpperCase()} /api/v1${path}](/${docsPath(details.operationId)}): ${details.summary}`,
  );
  const contents = chapters.map((chapter) => {
    const links = headingsOf(chapter).map((heading) => `[${heading}](/${docsPath(sectionId(chapter.id, heading))})`);
    return `- [${chapter.title}](/${docsPath(chapter.id)})${links.length === 0 ? '' : `: ${links.join(', ')}`}`;
  });
  return [
    '# slotgate',
    `> ${document.info.description} Every answer about the chain names the slot at which it holds, and each of these by GET, but for /network, carries a receipt that anyone can verify offline. Version ${document.info.version}.`,
    'All routes are below `/api/v1` of this gateway, only read, and answer in JSON; errors are `{"error", "message"}` with a stable code.',
    '## Reference',
    [
      '- [OpenAPI 3.1 document](/api/v1/openapi.json): parameters, schemas, examples and errors of all routes',
      '- [The whole reference in Markdown](/llms-full.txt)',
      '- [Verify a receipt](/verify): a page that works offline',
    ].join('\n'),
    '## Routes',
    operations.join('\n'),
    '## Chapters',
    contents.join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}
