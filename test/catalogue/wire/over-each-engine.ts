import type { EngineName } from '../../../src/gateway/http/engine/engine.ts';
import { GatewayProcess, type GatewayProcessOptions } from '../../support/gateway-process.ts';
import { type Finding, info } from '../findings.ts';
import type { WireTestbed } from './wire-testbed.ts';

const ENGINES: readonly EngineName[] = ['uws', 'uws-pack', 'node'];

/** The exit code of a gateway whose engine does not load. */
const NOT_LOADABLE = 78;

/** Runs `body` over a gateway with each engine in turn, but those that do not load here, which are named. */
export async function overEachEngine(
  { node, cluster }: WireTestbed,
  { set = [], ...options }: GatewayProcessOptions,
  body: (engine: EngineName, gateway: GatewayProcess) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const engine of ENGINES) {
    const gateway = await GatewayProcess.start([`${node.url},${cluster.wsUrl}`], {
      ...options,
      set: [`http.engine=${engine}`, ...set],
    }).catch((thrown: { readonly exitCode?: unknown }) => {
      if (thrown.exitCode !== NOT_LOADABLE) throw thrown;
    });
    if (gateway === undefined) findings.push(info(engine, 'does not load here'));
    else findings.push(...(await body(engine, gateway).finally(() => gateway.close())));
  }
  return findings;
}
