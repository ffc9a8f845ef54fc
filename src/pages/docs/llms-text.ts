import type { ApiDocument } from './api-document.ts';
import { operationsOf } from './api-document.ts';
import { type Chapter, sectionId } from './chapters.ts';

/** Returns `/llms.txt` (llmstxt.org): what there is to read about this gateway, and where. */
export function llmsText(chapters: readonly Chapter[], document: ApiDocument): string {
  const operations = operationsOf(document).map(
    ({ method, path, details }) =>
      `- [${method.toUpperCase()} /api/v1${path}](/docs#${details.operationId}): ${details.summary}`,
  );
  const contents = chapters.map(({ id, title, markdown }) => {
    const sections = [...markdown.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const links = sections.map((heading) => `[${heading}](/docs#${sectionId(id, heading)})`);
    return `- [${title}](/docs#${id})${links.length === 0 ? '' : `: ${links.join(', ')}`}`;
  });
  return [
    '# slotgate',
    `> ${document.info.description} Every answer names the slot at which it holds, and carries a receipt that anyone can verify offline. Version ${document.info.version}.`,
    'All routes are below `/api/v1` of this gateway, only read, and answer in JSON; errors are `{"error", "message"}` with a stable code.',
    '## Reference',
    [
      '- [The whole reference in Markdown](/docs.md)',
      '- [OpenAPI 3.1 document](/api/v1/openapi.json): parameters, schemas and errors of all routes',
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
