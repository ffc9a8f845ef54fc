import { readFileSync } from 'node:fs';

export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly markdown: string;
  /** The anchors, of the chapter or its sections, of what only `/docs.md` has: the page stays quick to load. */
  readonly markdownOnly: readonly string[];
}

/** Chapters in their order. `routes` and `errors` are made from the declarations, after the words that stand here. */
export const CHAPTER_IDS = [
  'start',
  'embedded-cluster',
  'routes',
  'answers',
  'accounts',
  'transactions',
  'stream',
  'clients',
  'receipts',
  'receipt-format',
  'sdk',
  'library',
  'widget',
  'limits',
  'errors',
  'command-line',
  'operate',
  'glossary',
] as const;

export type ChapterId = (typeof CHAPTER_IDS)[number];

/** Read by the build alone, from the sources: this module is as deep in the build as in them. */
const FOLDER = new URL('../../../../src/pages/docs/chapters/', import.meta.url);
const EXAMPLES = new URL('../../../../test/examples/', import.meta.url);
const VECTORS = new URL('../../../../test/vectors/', import.meta.url);

/** Reads all chapters, with the examples that they name. */
export const readChapters = (): readonly Chapter[] =>
  CHAPTER_IDS.map((id) => parseChapter(id, readFileSync(new URL(`${id}.md`, FOLDER), 'utf8')));

/** Reads the vectors of receipts: bodies of each version that verifiers accept, and hostile ones. */
export const readVectors = (): Readonly<Record<'v1' | 'v2' | 'hostile', object>> => {
  const read = (name: string): object => JSON.parse(readFileSync(new URL(`receipt-${name}.json`, VECTORS), 'utf8'));
  return { v1: read('v1'), v2: read('v2'), hostile: read('hostile') };
};

function parseChapter(id: ChapterId, marked: string): Chapter {
  const markdownOnly: string[] = [];
  const text = marked.replace(/^(##?) (.+) <!-- only in Markdown -->$/gm, (_, level: string, heading: string) => {
    markdownOnly.push(level === '#' ? id : sectionId(id, heading));
    return `${level} ${heading}`;
  });
  const [, title, markdown] = /^# ([^\n]+)\n\n(.*)$/s.exec(text) ?? [];
  if (title === undefined || markdown === undefined) throw new Error(`${id}.md has no title`);
  return { id, title, markdown: withExamples(markdown).trim(), markdownOnly };
}

/** Puts the files of `test/examples`, which tests run, where a line `<!-- example: NAME -->` stands. */
const withExamples = (markdown: string): string =>
  markdown.replace(/^<!-- example: ([\w.-]+) -->$/gm, (_, name: string) => {
    const code = readFileSync(new URL(name, EXAMPLES), 'utf8').trimEnd();
    return `\`\`\`${LANGUAGES[name.split('.').at(-1) ?? '']}\n${code}\n\`\`\``;
  });

const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'sh',
  ts: 'ts',
  html: 'html',
  mjs: 'js',
  py: 'python',
  go: 'go',
};

export const sectionId = (chapter: string, heading: string): string =>
  `${chapter}-${heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}`;
