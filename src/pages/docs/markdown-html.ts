import { docsPath, sectionId } from './chapters.ts';

/** Escapes a text for HTML, where it is not inside of a tag. */
export const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Returns the text of one paragraph as HTML: code, strong text, links. */
export function inlineHtml(text: string): string {
  const codes: string[] = [];
  const keep = (_: string, code: string): string => {
    codes.push(`<code>${escapeHtml(code)}</code>`);
    return `\0${codes.length - 1}\0`;
  };
  return escapeHtml(text.replace(/`([^`]+)`/g, keep))
    .replace(/&lt;(https?:[^ >]+)>/g, '<a href="$1">$1</a>')
    .replace(
      /\[([^\]]*)\]\(([^)"]+)\)/g,
      (_, label: string, href: string) => `<a href="${relative(href)}">${label}</a>`,
    )
    .replace(/\*\*([^*]+)\*\*/g, '<b>$1</b>')
    .replace(/\0(\d+)\0/g, (_, at: string) => codes[Number(at)] ?? '');
}

/**
 * Makes a link of Markdown one of a page below `/docs`: relative, so that it also works below a prefix, and to the page
 * that has the anchor.
 */
function relative(href: string): string {
  const [, anchor] = /^(?:\/docs)?#([\w-]+)$/.exec(href) ?? [];
  if (anchor !== undefined) return `../${docsPath(anchor)}`;
  return href.startsWith('/') ? `..${href}` : href;
}

/** Returns a chapter's Markdown as HTML. Its subset: headings from `##`, paragraphs, lists, tables, fenced code. */
export function chapterHtml(chapter: string, markdown: string): string {
  return markdown
    .split(/^(```[^\n]*\n.*?^```)$/ms)
    .map((part) => (part.startsWith('```') ? codeHtml(part) : blocksHtml(chapter, part)))
    .join('');
}

function codeHtml(fenced: string): string {
  const [, language = ''] = /^```(\w*)/.exec(fenced) ?? [];
  const code = fenced.replace(/^```[^\n]*\n/, '').replace(/\n?```$/, '');
  return `<pre tabindex="0"><code>${highlighted(escapeHtml(code), COMMENTS[language])}</code></pre>`;
}

/** What begins a comment, by language. */
const COMMENTS: Readonly<Record<string, '#' | '//'>> = { sh: '#', python: '#', ts: '//', js: '//', go: '//' };

/** Marks comments and texts in code: most of what a reader looks for, and right in every language. */
function highlighted(code: string, comment: string | undefined): string {
  if (comment === undefined) return code;
  const tokens = new RegExp(`(?<=^|\\s)(${comment}.*)|"(?:[^"\\\\\n]|\\\\.)*"|'(?:[^'\\\\\n]|\\\\.)*'`, 'gm');
  return code.replace(
    tokens,
    (token, remark?: string) => `<i class="${remark === undefined ? 's' : 'c'}">${token}</i>`,
  );
}

const blocksHtml = (chapter: string, text: string): string =>
  text
    .split(/\n{2,}/)
    .map((block) => block.replace(/^\n+|\n+$/g, ''))
    .filter((block) => block !== '')
    .map((block) => blockHtml(chapter, block))
    .join('');

function blockHtml(chapter: string, block: string): string {
  const [, level, heading = ''] = /^(#{2,4}) ([^\n]+)$/.exec(block) ?? [];
  if (level !== undefined) {
    const tag = `h${level.length}`; // the title of the chapter is the first
    return `<${tag} id="${sectionId(chapter, heading)}">${inlineHtml(heading)}</${tag}>`;
  }
  if (block.startsWith('|')) return tableHtml(block.split('\n'));
  if (/^[-*] /.test(block)) return `<ul>${itemsOf(block, /^[-*] /m)}</ul>`;
  if (/^\d+\. /.test(block)) return `<ol>${itemsOf(block, /^\d+\. /m)}</ol>`;
  return `<p>${inlineHtml(block)}</p>`;
}

const itemsOf = (block: string, mark: RegExp): string =>
  block
    .split(mark)
    .slice(1)
    .map((item) => `<li>${inlineHtml(item.trim())}`)
    .join('');

function tableHtml([head = '', , ...rows]: readonly string[]): string {
  const cells = (row: string): readonly string[] =>
    row
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => inlineHtml(cell.trim().replaceAll('\\|', '|')));
  const headings = cells(head).map((cell) => `<th>${cell}`);
  const body = rows.map(
    (row) =>
      `<tr>${cells(row)
        .map((cell) => `<td>${cell}`)
        .join('')}`,
  );
  return `<div class="wide"><table><thead><tr>${headings.join('')}</thead><tbody>${body.join('')}</tbody></table></div>`;
}
