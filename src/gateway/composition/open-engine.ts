import type { Config } from '../../config/config-schema.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Engine } from '../http/engine/engine.ts';
import { loadEngine } from '../http/load-engine.ts';

export async function openEngine({ http }: Config, log: Log): Promise<Engine> {
  const { engine, skipped, drawback } = await loadEngine(http.engine);
  const { name, version } = engine;
  log.info({ nodeVersion: process.versions.node, engine: { name, version } }, 'starting');
  if (drawback !== undefined) log.warn({ skipped }, `the HTTP engine is ${name}: ${drawback}`);
  return engine;
}
