import { randomInt } from 'node:crypto';

/**
 * Returns the ports of a cluster that is to listen again at those that it had: below the ones from which a system gives a
 * connection its own (32,768 and up on Linux, 49,152 elsewhere), since a connection of another test could have got it by then.
 */
export const lastingPort = () => ({ port: randomInt(10_000, 32_000), orFreePorts: true });
