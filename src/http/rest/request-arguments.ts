import { parseTarget } from '../../domain/canonical-request.ts';
import { parsePathArguments, parseQueryArguments } from '../../routing/arguments.ts';
import type { RouteMatch } from '../../routing/match-route.ts';
import type { GetRoute, ParamSet, Params } from '../../routing/route.ts';
import type { EngineRequest } from '../engine/engine.ts';
import { requestTargetOf } from '../engine/request-guard.ts';

interface ParsedArguments {
  readonly params: Params<ParamSet>;
  /** The canonical target: the key of the answer in the cache. */
  readonly key: string;
}

/** The parameters of a GET. They are parsed once, while the request's handler runs: for its price or its answer. */
export class RequestArguments {
  readonly #req: EngineRequest;
  #parsed: ParsedArguments | undefined;

  constructor(req: EngineRequest) {
    this.#req = req;
  }

  /** Parses the parameters of the route that the request matches. Throws the 400 of the first invalid one. */
  parse(route: GetRoute, { pathTexts }: RouteMatch): ParsedArguments {
    this.#parsed ??= this.#parse(route, pathTexts);
    return this.#parsed;
  }

  #parse(route: GetRoute, pathTexts: RouteMatch['pathTexts']): ParsedArguments {
    const pathParams = parsePathArguments(route, pathTexts);
    const target = parseTarget(requestTargetOf(this.#req));
    return { params: { ...pathParams, ...parseQueryArguments(route, target) }, key: target.canonical };
  }
}
