import { StartError } from '../domain/start-error.ts';

const ENGINE_REMEDY =
  "the HTTP engine's package has binaries for Node 18, 20, 21 and 22 (Linux with glibc, macOS, Windows), and slotgate " +
  'wants one of them from 20.19 on; for a newer Node install the engine from its own repository: ' +
  'npm install uNetworking/uWebSockets.js#v20.52.0 (Node 20, 22, 23, 24) or #v20.67.0 (Node 22, 24, 26)';

/** Rejects a Node that is too old for the code, before code is loaded that it can't even parse. */
export function checkNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new StartError(1, `this is Node ${version}: ${ENGINE_REMEDY}`);
}

/**
 * Loads the HTTP engine before anything else does. A newer Node is judged by whether that works, since an engine from
 * its own repository may have a binary for it.
 */
export async function loadEngine(load: () => Promise<unknown>, version: string): Promise<void> {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = '16384'; // the engine reads it once, and its default of 4096 rejects legal requests
  try {
    await load();
  } catch (cause) {
    throw new StartError(1, `no HTTP engine for Node ${version} on this machine: ${ENGINE_REMEDY}`, cause);
  }
}
