import type { UwsModule } from '../../src/gateway/http/engine/uws/uws-engine.ts';
import { loadEngine } from '../../src/gateway/http/load-engine.ts';

/** Loads uWebSockets.js itself, from the first package of it that loads on this machine. */
export async function loadRawEngine(): Promise<UwsModule> {
  const { engine } = await loadEngine('auto');
  if (engine.name === 'node') throw new Error('no binary of uWebSockets.js loads here');
  const module: unknown = engine.name === 'uws' ? await import('uWebSockets.js') : await import('uws-pack');
  return module as UwsModule; // both packages have releases of it
}

/** Whether a package of uWebSockets.js loads on this machine. */
export const hasRawEngine = async (): Promise<boolean> => (await loadEngine('auto')).engine.name !== 'node';
