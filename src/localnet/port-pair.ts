import { once } from 'node:events';
import type { Server } from 'node:http';

export const HOST = '127.0.0.1';

/** Pairs of free ports that are tried: the port after a free one may be in use. */
const MAX_ATTEMPTS = 100;

/** The two ports that a node is to have: one, and the next, where Solana's tools expect pubsub. */
export interface WantedPorts {
  /** The first port; 0, which is the default, for two free ones. */
  readonly port?: number;
  /** Whether two free ports will do if one of the two is in use. */
  readonly orFreePorts?: boolean;
}

/** A wanted port that another process has. */
export interface TakenPort {
  readonly port: number;
  /** Genesis hash of the cluster that answers at the first port; null if none does. */
  readonly genesisHash: string | null;
}

/** Listens on two ports. Resolves with the first, and with the wanted one that another process has, if that is why. */
export async function listenOnPair(
  first: Server,
  next: Server,
  { port = 0, orFreePorts = false }: WantedPorts,
): Promise<{ readonly port: number; readonly taken: TakenPort | undefined }> {
  if (!orFreePorts) return { port: await listenFrom(first, next, port), taken: undefined };
  // Checked first, as macOS lets a process have a port of 127.0.0.1 which another has of all addresses.
  const genesisHash = await findGenesisHash(port);
  let takenPort = port;
  if (genesisHash === null) {
    try {
      return { port: await listenFrom(first, next, port), taken: undefined };
    } catch (thrown) {
      takenPort = portInUse(thrown);
    }
  }
  return { port: await listenFrom(first, next, 0), taken: { port: takenPort, genesisHash } };
}

/** Listens with one server on a port, 0 for a free one, and with the other on the next port. */
async function listenFrom(first: Server, next: Server, wanted: number): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = await listen(first, wanted);
    try {
      await listen(next, port + 1);
      return port;
    } catch (thrown) {
      first.close();
      if (wanted !== 0 || attempt === MAX_ATTEMPTS) throw thrown;
    }
  }
}

export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/** Returns the port that an error of {@link listen} is about. Throws any other error. */
function portInUse(thrown: unknown): number {
  const { code, port } = Object(thrown);
  if (code === 'EADDRINUSE') return port;
  throw thrown;
}

const MAX_ASK_MS = 1000;

/** Returns the genesis hash of the cluster that answers at a port; null if none does. */
async function findGenesisHash(port: number): Promise<string | null> {
  try {
    const response = await fetch(`http://${HOST}:${port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"getGenesisHash"}',
      signal: AbortSignal.timeout(MAX_ASK_MS),
    });
    const [, hash = null] = /"result":\s*"([1-9A-HJ-NP-Za-km-z]{32,44})"/.exec(await response.text()) ?? [];
    return hash;
  } catch {
    return null;
  }
}
