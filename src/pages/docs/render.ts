import { ERRORS } from '../../shared/domain/gateway-error.ts';
import { indentJson } from '../../shared/domain/indent-json.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import {
  type ApiDocument,
  errorCodesOf,
  type Operation,
  operationsOf,
  type Parameter,
  parametersOf,
} from './api-document.ts';
import { type Chapter, headingsOf, sectionId } from './chapters.ts';
import { ERROR_WORDS } from './error-words.ts';
import { EXAMPLE_ANSWERS } from './example-answers.ts';
import { chapterHtml, escapeHtml, inlineHtml } from './markdown-html.ts';
import { formatParameterType, propertiesOf, type SchemaRow } from './schema-rows.ts';

/** Longer descriptions, which list all values of a member, stand in the OpenAPI document. */
const MAX_DESCRIPTION = 160;
const MAX_DEPTH = 3;

/** Headers that each signed route accepts: a chapter describes them once. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'X-Min-Slot': 'the lowest slot at which the answer may hold',
  'If-None-Match': 'the `ETag` of the result that you have',
  'X-Receipt-Nonce': 'a text of yours that is signed with the answer',
};

/** Renders a chapter into its page. All of it can be read without script. */
export function renderDocs(
  page: string,
  chapter: Chapter,
  chapters: readonly Chapter[],
  document: ApiDocument,
): string {
  const at = chapters.indexOf(chapter);
  const parts: Readonly<Record<string, string>> = {
    title: escapeHtml(chapter.title),
    contents: chapters.map((each) => contentsHtml(each, document, each === chapter)).join(''),
    chapter: sectionHtml(chapter, document),
    around: [chapters[at - 1], chapters[at + 1]]
      .map(
        (other, isNext) =>
          other && `<a href="${other.id}">${isNext ? '' : '← '}${escapeHtml(other.title)}${isNext ? ' →' : ''}</a>`,
      )
      .map((link) => `<span>${link ?? ''}</span>`)
      .join(''),
  };
  return page.replace(/<!-- (title|contents|chapter|around) -->/g, (_, name: string) => parts[name] ?? '');
}

/** Lists a chapter with its sections, its routes or its errors: also what a search in the page goes through. */
function contentsHtml(chapter: Chapter, document: ApiDocument, isCurrent: boolean): string {
  const { id, title } = chapter;
  const sections: readonly (readonly [anchor: string, text: string])[] = [
    ...headingsOf(chapter).map((heading) => [sectionId(id, heading), heading] as const),
    ...(id === 'routes' ? operationsOf(document).map(({ path, details }) => [details.operationId, path] as const) : []),
    ...(id === 'errors' ? Object.keys(ERRORS).map((code) => [`error-${code}`, code] as const) : []),
  ];
  const links = sections.map(
    ([anchor, text]) => `<li><a href="${id}#${anchor}">${escapeHtml(text.replaceAll('`', ''))}</a>`,
  );
  const list = links.length === 0 ? '' : `<ul>${links.join('')}</ul>`;
  const current = isCurrent ? ' aria-current="page"' : '';
  return `<li><a href="${id}"${current}>${escapeHtml(title)}</a>${list}`;
}

function sectionHtml({ id, title, markdown }: Chapter, document: ApiDocument): string {
  const generated = id === 'routes' ? routesHtml(document) : id === 'errors' ? errorsHtml() : '';
  const text = chapterHtml(id, markdown);
  const whole =
    id === 'widget' ? text.replace('<h2', '<h2 id="widget-builder">Build yours</h2><div id="builder"></div>$&') : text;
  return `<section id="${id}"><h1>${escapeHtml(title)}</h1>${whole}${generated}</section>`;
}

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
  const { summary, description, operationId, responses } = details;
  const members = propertiesOf(responses['200']?.content?.['application/json']?.schema, document);
  const isSigned = members.some(({ path: member }) => member === 'receipt');
  const errors = errorCodesOf(responses)
    .filter((error) => !commonErrors.has(error))
    .map((error) => `<a href="errors#error-${error}">${error}</a> `);
  return [
    `<section class="route" id="${operationId}" data-method="${method}" data-path="${path}"${isSigned ? ' data-signed' : ''}>`,
    `<h2><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></h2><p>${inlineHtml(summary)}.</p>`,
    path === '/stream' ? '' : chapterHtml(operationId, description), // the stream has a chapter
    parametersHtml(parametersOf(details)),
    members.length === 0
      ? ''
      : `<details><summary>Result</summary><pre tabindex="0">${shapeText(members)}</pre></details>`,
    errors.length === 0 ? '' : `<p>Errors: ${errors.join('')}</p>`,
    exampleHtml(operationId),
    '<div class="try"></div></section>',
  ].join('');
}

/** An answer of the embedded cluster as it was once, with one of several items. */
function exampleHtml(operationId: string): string {
  const example = EXAMPLE_ANSWERS[operationId];
  if (example === undefined) return '';
  const json = indentJson(toJson(example.answer)).replace(/"([\w+/]{40})[\w+/=]{30,}"/g, '"$1…"');
  return `<details class="example" open><summary>Answer to <code>${escapeHtml(example.path)}</code></summary><pre tabindex="0">${highlighted(json)}</pre></details>`;
}

/** Marks the names, texts and other values of JSON. */
const highlighted = (json: string): string =>
  escapeHtml(json).replace(
    /("(?:[^"\\]|\\.)*")(:?)|\b(?:true|false|null)\b|-?\d[\d.e+-]*/g,
    (token, text?: string, colon = '') => {
      const kind = text === undefined ? 'v' : colon === '' ? 's' : 'n';
      return `<i class="${kind}">${text ?? token}</i>${colon}`;
    },
  );

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
    `${place}, ${escapeHtml(formatParameterType(schema))}`,
    COMMON_HEADERS[name] === undefined
      ? inlineHtml(description)
      : `${inlineHtml(COMMON_HEADERS[name])}, <a href="answers">as everywhere</a>`,
  ]);
  return rowsHtml(rows);
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

const rowsHtml = (rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<table>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}`).join('')}`).join('')}</table>`;

const errorsHtml = (): string =>
  ERROR_WORDS.map(({ code: error, statuses, meaning, fix, maySucceed }) => {
    const again = maySucceed ? ' <i>May succeed later.</i>' : '';
    return `<h2 id="error-${error}">${code(error)} ${statuses}</h2><p>${inlineHtml(capitalized(meaning))}. ${inlineHtml(fix)}${again}</p>`;
  }).join('');

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
