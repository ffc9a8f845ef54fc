import type { RequestTarget } from '../domain/canonical-request.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { GetRoute, ParamSet, Params } from './route.ts';

/** Parses the parameters in the path. Throws the 400 of the first invalid one. */
export function parsePathArguments(route: GetRoute, pathTexts: Readonly<Record<string, string>>): Params<ParamSet> {
  const declared: ParamSet = route.params;
  return Object.fromEntries(Object.entries(pathTexts).map(([name, text]) => [name, declared[name]?.parse(text, name)]));
}

/** Parses the parameters in the query and fills in defaults. Throws the 400 of the first invalid one. */
export function parseQueryArguments(route: GetRoute, { query }: RequestTarget): Params<ParamSet> {
  const texts = new Map(query);
  const declared: ParamSet = route.params;
  const expected = Object.entries(declared).filter(([name]) => !route.path.split('/').includes(`:${name}`));
  const values = expected.map(([name, param]) => {
    const value = param.parse(texts.get(name), name);
    texts.delete(name);
    return [name, value] as const;
  });
  const [unknown] = texts.keys();
  if (unknown === undefined) return Object.fromEntries(values);
  const known = expected.map(([name]) => name).join(', ') || 'none';
  throw new GatewayError('invalid_query', `unknown query parameter ${shortName(unknown)}; this path takes: ${known}`);
}

const MAX_SHOWN_LENGTH = 40;

/** Returns the name of a parameter as a message can quote it. */
const shortName = (name: string): string =>
  JSON.stringify(name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name);
