import { isIP } from 'node:net';

/** The hosts of this machine, where each port may be another node. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the operator of a node that names none: the last two labels of its host. An address is an operator of its own;
 * on this machine, each port is.
 */
export function operatorOfUrl(url: string): string {
  const { hostname, host } = new URL(url);
  if (LOOPBACK.test(hostname)) return host;
  const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0;
  return isAddress ? hostname : hostname.split('.').slice(-2).join('.');
}

type Nodes = readonly { readonly operator: string }[];

/** Returns the operators of all nodes, in the order of the nodes. The nodes of one operator are one voice. */
export const operatorsOf = (nodes: Nodes): readonly string[] => [...new Set(nodes.map(({ operator }) => operator))];

/** How operators are compared. */
export interface ConfiguredOperators {
  readonly count: number;
  /** Those that must give the same value of a slot before it is signed as `exact`. */
  readonly needed: number;
}

/** Returns the operators of a configuration; undefined where there is one at most, and nothing to compare. */
export function operatorsIn({
  upstreams,
  receipts: { agree },
}: {
  readonly upstreams: Nodes;
  readonly receipts: { readonly agree: number | 'auto' };
}): ConfiguredOperators | undefined {
  const count = operatorsOf(upstreams).length;
  return count < 2 ? undefined : { count, needed: agree === 'auto' ? 2 : agree };
}
