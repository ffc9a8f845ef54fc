import { isReadMethod, type RpcProfile } from '../../../shared/domain/rpc-methods.ts';
import { readTables } from '../../../shared/runtime/files/read-tables.ts';

/** What a caller can use in place of the methods that a profile lacks, by method. */
const ALTERNATIVES: ReadonlyMap<string, string> = new Map(
  readTables(new URL('data/refused-methods.tsv', import.meta.url), 'instead').flatMap(
    ({ head: [alternative = ''], rows }) => rows.flat().map((method) => [method, alternative] as const),
  ),
);

/** Says why a profile refuses a method, and what to use in its place. The method is quoted only if it is a known name. */
export function refusalOf(method: string, profile: RpcProfile): string {
  if (isReadMethod(method, 'standard'))
    return `${method} is a method of rpc.profile "standard", and this gateway has "${profile}": its operator can start it with --set rpc.profile=standard`;
  const alternative = ALTERNATIVES.get(method);
  if (alternative !== undefined) return `${method}: ${alternative}`;
  return 'this method is not allowed, or not spelled as Solana RPC spells it; GET /api/v1/openapi.json lists those that are allowed';
}
