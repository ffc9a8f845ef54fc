import { readFileSync } from 'node:fs';
import { CHAPTER_IDS, type ChapterId } from '../../shared/site/site.ts';

export interface Chapter {
  readonly id: ChapterId;
  readonly title: string;
  readonly markdown: string;
}

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

function parseChapter(id: ChapterId, text: string): Chapter {
  const [, title, markdown] = /^# ([^\n]+)\n\n(.*)$/s.exec(text) ?? [];
  if (title === undefined || markdown === undefined) throw new Error(`${id}.md has no title`);
  return { id, title, markdown: withAnchors(withExamples(markdown)).trim() };
}

/** The headings of the sections of a chapter. */
export const headingsOf = ({ markdown }: Chapter): readonly string[] =>
  [...markdown.replace(/^```.*?^```$/gms, '').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);

/** Returns the path of the page that has an anchor, without a slash before it: `docs/limits#limits-units`. */
export function docsPath(anchor: string): string {
  if (CHAPTER_IDS.some((id) => id === anchor)) return `docs/${anchor}`;
  if (anchor.startsWith('error-')) return `docs/errors#${anchor}`;
  const chapters = CHAPTER_IDS.filter((id) => anchor.startsWith(`${id}-`)).sort((a, b) => b.length - a.length);
  return `docs/${chapters[0] ?? 'routes'}#${anchor}`;
}

/** Puts the files of `test/examples`, which tests run, where a line `<!-- example: NAME -->` stands. */
const withExamples = (markdown: string): string =>
  markdown.replace(/^<!-- example: ([\w.-]+) -->$/gm, (_, name: string) => {
    const code = readFileSync(new URL(name, EXAMPLES), 'utf8').trimEnd();
    return `\`\`\`${LANGUAGES[name.split('.').at(-1) ?? '']}\n${code}\n\`\`\``;
  });

/** Makes a link to the file of a chapter, which a host of code follows, one to its place in the reference: `#limits-units`. */
const withAnchors = (markdown: string): string =>
  markdown.replace(/\]\(([a-z-]+)\.md(?:#([\w-]+))?\)/g, (_, chapter: string, heading?: string) =>
    heading === undefined ? `](#${chapter})` : `](#${chapter}-${heading})`,
  );

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
    .replaceAll("'", '') // as hosts of code do
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}`;
