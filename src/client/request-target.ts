import { API_PREFIX } from '../shared/domain/canonical-request.ts';

export type TargetParameters = Readonly<Record<string, string | number | bigint | readonly string[] | undefined>>;

/** Fills the names in a declared path and appends the other parameters as query: `/block/:slot` → `/api/v1/block/7`. */
export function buildRequestTarget(path: string, params: TargetParameters): string {
  const unusedParams = new Map(Object.entries(params).filter(([, value]) => value !== undefined));
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = unusedParams.get(name);
    unusedParams.delete(name);
    // A dot or an empty text would change the path.
    if (value === undefined || /^\.{0,2}$/.test(String(value)))
      throw new TypeError(`${path} needs the parameter ${name}`);
    return encodeURIComponent(String(value));
  });
  const query = [...unusedParams].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return `${API_PREFIX}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** Returns the gateway's URL without the prefix that every target has. */
export function baseUrlOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}
