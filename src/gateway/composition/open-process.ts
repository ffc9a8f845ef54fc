import type { Config } from '../../config/config-schema.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import type { Engine } from '../http/engine/engine.ts';
import { loadEngine } from '../http/load-engine.ts';
import { type Environment, environmentOf, type GatewayOptions } from './environment.ts';

/**
 * Returns the function that ends a process: it is no longer healthy, after a delay accepts no more requests, then releases
 * all.
 */
export function closerOf({ clock, leaving, disposals }: Environment, delayMs: number): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const leaveAndClose = async (): Promise<void> => {
    leaving.hasBegun = true;
    if (delayMs > 0) await sleep(clock, delayMs);
    await disposals.disposeAsync();
  };
  return () => {
    closing ??= leaveAndClose();
    return closing;
  };
}

/** Opens the parts of a process; those that are open already are closed if the next one fails. */
export async function openProcess<T>(options: GatewayOptions, open: (env: Environment) => Promise<T>): Promise<T> {
  const env = environmentOf(options, options.engine ?? (await openEngine(options.config, options.log)));
  try {
    return await open(env);
  } catch (thrown) {
    await env.disposals.disposeAsync().catch(() => {}); // the error that prevented the start is the one to throw
    throw thrown;
  }
}

export async function openEngine({ http, workers }: Config, log: Log): Promise<Engine> {
  const { engine, skipped, drawback } = await loadEngine(http.engine, workers.count !== 0);
  const { name, version } = engine;
  log.info({ nodeVersion: process.versions.node, engine: { name, version } }, 'starting');
  if (drawback !== undefined) log.warn({ skipped }, `the HTTP engine is ${name}: ${drawback}`);
  return engine;
}
