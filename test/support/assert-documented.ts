import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Test } from 'tap';
import type { GatewayHarness, HttpAnswer } from './harness.ts';

type Checker = (t: Test, path: string, got: Pick<HttpAnswer<unknown>, 'status' | 'json'>, method?: string) => void;

/** By the text of their document: a process has few, and each takes long to compile. */
const checkers = new Map<string, Checker>();

/** Returns a function that checks an answer against the OpenAPI schema of its path, such as `/block/{slot}`. */
export async function createDocumentChecker({ get }: GatewayHarness): Promise<Checker> {
  const { text } = await get('/openapi.json');
  const checker = checkers.get(text) ?? createChecker(text);
  checkers.set(text, checker);
  return checker;
}

export function createChecker(document: string): Checker {
  const ajv = new Ajv2020({ strict: false, formats: { int64: true } });
  ajv.addSchema(JSON.parse(document), 'document');
  const compiled = new Map<string, ValidateFunction>();
  return (t, path, { status, json }, method = 'get') => {
    const pointer = [path, method, 'responses', status, 'content', 'application/json', 'schema']
      .map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
      .join('/');
    const fits = compiled.get(pointer) ?? ajv.compile({ $ref: `document#/paths/${pointer}` });
    compiled.set(pointer, fits);
    t.ok(fits(json), `${path} ${status} ${ajv.errorsText(fits.errors)}`);
  };
}

/** Asserts that the targets of each error code are refused before any request to the cluster. */
export async function assertRefusedWithoutUpstream(
  t: Test,
  { get, cluster }: GatewayHarness & { readonly cluster: { readonly control: { requestCounts(): Promise<object> } } },
  targets: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const countRequests = async (): Promise<object> => {
    const { getEpochInfo, getRecentPrioritizationFees, ...others }: Readonly<Record<string, unknown>> = {
      ...(await cluster.control.requestCounts()),
    };
    return others; // the two are read once in some slots, whatever is requested
  };
  const before = await countRequests();
  for (const [code, refused] of Object.entries(targets)) {
    for (const target of refused) {
      const { status, json } = await get(target);
      t.strictSame([status, json.error], [400, code], target);
    }
  }
  t.strictSame(await countRequests(), before, 'no request reached the node');
}
