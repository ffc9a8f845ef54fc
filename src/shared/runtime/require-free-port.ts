import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { reasonOf } from '../domain/reason-of.ts';
import { StartError } from '../domain/start-error.ts';

const reasonsWith = (option: string): Readonly<Record<string, string>> => ({
  EADDRINUSE: `the port is in use; ${option} chooses another`,
  EADDRNOTAVAIL: 'this machine does not have the address',
  EACCES: `the system reserves the port for privileged processes; ${option} chooses another`,
});

/**
 * A gateway listens only once it has answers, late to learn that a port is in use, and the engine gives no reason. The error
 * names the option that chooses the port.
 */
export async function requireFreePort(host: string, port: number, option = '--port'): Promise<void> {
  const probe = createServer().listen({ host, port });
  try {
    await once(probe, 'listening');
  } catch (thrown) {
    const reason = reasonsWith(option)[Object(thrown).code] ?? reasonOf(thrown);
    throw new StartError(1, `can't listen on ${host}:${port}: ${reason}`, thrown);
  }
  await new Promise((resolve) => probe.close(resolve));
}

/** Returns a port that is free now, for processes that are to share it: the kernel shares none that it has chosen itself. */
export async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
