import type { Entry } from '../../cache/entry.ts';
import type { ContentCoding } from './content-coding.ts';
import type { HitConditions } from './hit-conditions.ts';
import { HeaderTemplate } from './response-headers.ts';
import { cacheControlOf } from './responses.ts';

/** The header templates of cache hits: nearly all hits use the same one, the others are created when first needed. */
export class HitHeaders {
  readonly #mutableTemplate = new HeaderTemplate('no-cache');
  readonly #nonceTemplate = new HeaderTemplate('no-store');
  readonly #otherTemplates = new Map<string, HeaderTemplate>();

  /** Returns the template for an entry in a coding. */
  templateFor(entry: Entry, coding: ContentCoding, { nonce }: HitConditions): HeaderTemplate {
    if (nonce !== null) return this.#nonceTemplate;
    if (coding === 'identity' && !entry.final) return this.#mutableTemplate;
    const cacheControl = cacheControlOf(entry);
    const key = `${coding} ${cacheControl}`;
    const template = this.#otherTemplates.get(key) ?? new HeaderTemplate(cacheControl, coding);
    this.#otherTemplates.set(key, template);
    return template;
  }
}
