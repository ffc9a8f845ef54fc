import { ERRORS, type ErrorCode } from '../../shared/domain/gateway-error.ts';
import { ERROR_REFERENCE } from '../../shared/site/error-reference.ts';
import { type ApiDocument, errorCodesOf, type Operation, operationsOf, type Parameter } from './api-document.ts';
import { type Chapter, sectionId } from './chapters.ts';
import { chapterHtml, escapeHtml, inlineHtml } from './markdown-html.ts';
import { formatSchemaType, propertiesOf, type SchemaRow } from './schema-rows.ts';

/** Longer descriptions, which list all values of a member, stand in the OpenAPI document. */
const MAX_DESCRIPTION = 160;
const MAX_DEPTH = 3;

/** Headers that each signed route accepts: the chapters describe them once. */
const COMMON_HEADERS: ReadonlySet<string> = new Set(['X-Min-Slot', 'If-None-Match', 'X-Receipt-Nonce']);

/** Renders the reference into its page. All of it can be read without script. */
export function renderDocs(page: string, allChapters: readonly Chapter[], document: ApiDocument): string {
  const hidden = new Set(allChapters.flatMap(({ markdownOnly }) => markdownOnly));
  const chapters = allChapters.filter(({ id }) => !hidden.has(id));
  const parts: Readonly<Record<string, string>> = {
    contents: chapters.map((chapter) => contentsHtml(chapter, document)).join(''),
    chapters: chapters.map((chapter) => sectionHtml(chapter, document, hidden)).join('\n'),
  };
  return page.replace(/<!-- (contents|chapters) -->/g, (_, name: string) => parts[name] ?? '');
}

function contentsHtml({ id, title }: Chapter, document: ApiDocument): string {
  const routes = operationsOf(document).map(
    ({ path, details }) => `<li><a href="#${details.operationId}">${escapeHtml(path)}</a>`,
  );
  return `<li><a href="#${id}">${escapeHtml(title)}</a>${id === 'routes' ? `<ul>${routes.join('')}</ul>` : ''}`;
}

function sectionHtml({ id, title, markdown }: Chapter, document: ApiDocument, hidden: ReadonlySet<string>): string {
  const generated = id === 'routes' ? routesHtml(document) : id === 'errors' ? errorsHtml() : '';
  const before = id === 'widget' ? '<div id="builder"></div>' : '';
  const sections = markdown.split(/^(?=## )/m);
  const shown = sections.filter((section) => !hidden.has(sectionId(id, headingOf(section))));
  const others = sections.filter((section) => !shown.includes(section)).map(headingOf);
  const more = others.length === 0 ? '' : `<p><a href="docs.md">In Markdown</a>: ${escapeHtml(others.join('; '))}.</p>`;
  const html = chapterHtml(id, shown.join('')).replace(/href="#([\w-]+)"/g, (link, target: string) =>
    hidden.has(target) ? 'href="docs.md"' : link,
  );
  return `<section id="${id}"><h2>${escapeHtml(title)}</h2>${before}${html}${more}${generated}</section>`;
}

const headingOf = (section: string): string => /^## ([^\n]+)/.exec(section)?.[1] ?? '';

function routesHtml(document: ApiDocument): string {
  const operations = operationsOf(document);
  const requests = operations.filter(({ path }) => path !== '/stream');
  const [first = [], ...others] = requests.map(({ details }) => errorCodesOf(details.responses));
  const common = new Set(first.filter((error) => others.every((codes) => codes.includes(error))));
  return operations.map((operation) => routeHtml(operation, document, common)).join('\n');
}

function routeHtml(
  { method, path, details }: Operation,
  document: ApiDocument,
  commonErrors: ReadonlySet<string>,
): string {
  const { summary, description, operationId, parameters, responses } = details;
  const members = propertiesOf(responses['200']?.content?.['application/json']?.schema, document);
  const isSigned = members.some(({ path: member }) => member === 'receipt');
  const errors = errorCodesOf(responses)
    .filter((error) => !commonErrors.has(error))
    .map((error) => `<a href="#error-${error}">${error}</a> `);
  return [
    `<section class="route" id="${operationId}" data-method="${method}" data-path="${path}"${isSigned ? ' data-signed' : ''}>`,
    `<h3><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></h3><p>${inlineHtml(summary)}.</p>`,
    description === undefined || path === '/stream' ? '' : chapterHtml(operationId, description), // the stream has a chapter
    parametersHtml(parameters),
    members.length === 0
      ? ''
      : `<details><summary>Result</summary><pre tabindex="0">${shapeText(members)}</pre></details>`,
    errors.length === 0 ? '' : `<p>Errors: ${errors.join('')}</p>`,
    '<div class="try"></div></section>',
  ].join('');
}

/** Writes the members of an answer one a line, those of members below them. */
const shapeText = (members: readonly SchemaRow[]): string =>
  members
    .filter(({ path }) => path.split('.').length <= MAX_DEPTH)
    .map(({ path, type, description }) => {
      const names = path.split('.');
      const comment = description === '' || description.length > MAX_DESCRIPTION ? '' : `  // ${description}`;
      return escapeHtml(`${'  '.repeat(names.length - 1)}${names.at(-1)}: ${type}${comment}`);
    })
    .join('\n');

function parametersHtml(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: place, required, schema, description = '' }) => [
    `${code(name)}${required ? ' <b>required</b>' : ''}`,
    `${place}, ${escapeHtml(formatSchemaType(schema))}`,
    COMMON_HEADERS.has(name) ? '<a href="#answers">any answer</a>' : inlineHtml(description),
  ]);
  return rowsHtml(rows);
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

const rowsHtml = (rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}`).join('')}`).join('')}</table>`;

const errorsHtml = (): string => {
  const codes = Object.keys(ERRORS) as ErrorCode[]; // the table's own keys
  return codes
    .map((error) => {
      const { status, retry } = ERRORS[error];
      const { meaning, fix } = ERROR_REFERENCE[error];
      const again = retry === 'later' ? ' <i>May succeed later.</i>' : '';
      return `<h3 id="error-${error}">${code(error)} ${status}</h3><p>${inlineHtml(capitalized(meaning))}. ${inlineHtml(fix)}${again}</p>`;
    })
    .join('');
};

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
