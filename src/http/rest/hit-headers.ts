import type { Entry } from '../../cache/entry.ts';
import type { ContentCoding } from './content-coding.ts';
import { HeaderTemplate } from './response-headers.ts';
import { cacheControlOf } from './responses.ts';

/** The header templates of cache hits: nearly all hits use the same one, the others are created when first needed. */
export class HitHeaders {
  readonly #mutableTemplate = createTemplate('no-cache', 'identity');
  readonly #otherTemplates = new Map<string, HeaderTemplate>();

  /** Returns the template for an entry in a coding. */
  templateFor(entry: Entry, coding: ContentCoding): HeaderTemplate {
    if (coding === 'identity' && !entry.final) return this.#mutableTemplate;
    const cacheControl = cacheControlOf(entry);
    const key = `${coding} ${cacheControl}`;
    const template = this.#otherTemplates.get(key) ?? createTemplate(cacheControl, coding);
    this.#otherTemplates.set(key, template);
    return template;
  }
}

const createTemplate = (cacheControl: string, coding: ContentCoding): HeaderTemplate =>
  new HeaderTemplate([
    ['X-Cache', 'HIT'],
    ['Cache-Control', cacheControl],
    ...(coding === 'identity' ? [] : [['Content-Encoding', coding] as const]),
  ]);
