import type { RequestTarget } from '../../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RouteMatch } from './match-route.ts';
import type { GetRoute, ParamSet, Params } from './route.ts';

type PathTexts = RouteMatch['pathTexts'];

/** Parses the parameters in the path. Throws the 400 of the first invalid one. */
export function parsePathArguments(route: GetRoute, pathTexts: PathTexts): Record<string, unknown> {
  const declared: ParamSet = route.params;
  const values: Record<string, unknown> = {};
  for (const name in pathTexts) values[name] = declared[name]?.parse(pathTexts[name], name);
  return values;
}

/** Fills in defaults and adds the parameters in the path. Throws the 400 of the first invalid one. */
export function parseQueryArguments(
  route: GetRoute,
  { query }: Pick<RequestTarget, 'query'>,
  pathArguments: Record<string, unknown>,
): Params<ParamSet> {
  const declared: ParamSet = route.params;
  const values: Record<string, unknown> = {};
  let given = 0;
  for (const name in declared) {
    if (name in pathArguments) {
      values[name] = pathArguments[name];
      continue;
    }
    const pair = query.length === 0 ? undefined : query.find(([each]) => each === name);
    if (pair !== undefined) given++;
    values[name] = declared[name]?.parse(pair?.[1], name);
  }
  if (given < query.length) throw unknownParameter(Object.keys(declared), query, pathArguments);
  return values;
}

function unknownParameter(
  declared: readonly string[],
  query: RequestTarget['query'],
  pathArguments: Record<string, unknown>,
): GatewayError {
  const known = declared.filter((name) => !(name in pathArguments));
  const [unknown = ''] = query.map(([name]) => name).filter((name) => !known.includes(name));
  const message = `unknown query parameter ${shortName(unknown)}; this path accepts: ${known.join(', ') || 'none'}`;
  return new GatewayError('invalid_query', message);
}

const MAX_SHOWN_LENGTH = 40;

/** Returns the name of a parameter as a message can quote it. */
const shortName = (name: string): string =>
  JSON.stringify(name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name);
