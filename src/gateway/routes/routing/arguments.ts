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
  const values = { ...pathArguments };
  const known: string[] = [];
  for (const name in declared) {
    if (name in pathArguments) continue;
    known.push(name);
    values[name] = declared[name]?.parse(query.find(([given]) => given === name)?.[1], name);
  }
  const unknown = query.find(([name]) => !known.includes(name));
  if (unknown === undefined) return values;
  const message = `unknown query parameter ${shortName(unknown[0])}; this path accepts: ${known.join(', ') || 'none'}`;
  throw new GatewayError('invalid_query', message);
}

const MAX_SHOWN_LENGTH = 40;

/** Returns the name of a parameter as a message can quote it. */
const shortName = (name: string): string =>
  JSON.stringify(name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name);
