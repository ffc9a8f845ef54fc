import type { EngineRequest } from './engine.ts';

export interface SourceLimits {
  /** The names in `Host` that are answered, without a port; none for any. */
  readonly hosts: readonly string[];
  /** The origins whose web pages are answered; none for any. */
  readonly origins: readonly string[];
}

/**
 * Refuses requests that a web page sends to a gateway that is not meant for it. A name that is not ours in `Host` is one
 * that its owner has pointed at our address (DNS rebinding); other pages name themselves by `Origin`, or leave only that
 * they are of another site.
 */
export class AllowedSources {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** False if every source is allowed. */
  readonly isRestricted: boolean;

  constructor({ hosts, origins }: SourceLimits) {
    this.#hosts = new Set(hosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(origins);
    this.isRestricted = hosts.length + origins.length > 0;
  }

  findFault(req: EngineRequest): string | undefined {
    if (!this.isRestricted) return undefined;
    const host = req.getHeader('host').toLowerCase().replace(/:\d*$/, '');
    if (this.#hosts.size > 0 && !this.#hosts.has(host))
      return 'this gateway does not answer for the name in Host; its operator lists those it does in the setting hosts';
    if (this.#origins.size === 0) return undefined;
    const origin = req.getHeader('origin');
    const isOfOtherPage =
      origin === ''
        ? ['cross-site', 'same-site'].includes(req.getHeader('sec-fetch-site')) &&
          req.getHeader('sec-fetch-mode') !== 'navigate'
        : !this.#origins.has(origin);
    return isOfOtherPage
      ? 'this gateway does not answer pages of this origin; its operator lists those it does in the setting origins'
      : undefined;
  }
}
