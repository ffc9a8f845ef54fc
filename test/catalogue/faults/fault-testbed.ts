import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess, upstreamOnPort } from '../../support/gateway-process.ts';
import { GENESIS } from '../../support/scripted-node.ts';
import { AnswerChecker } from './answer-checker.ts';
import { type ChainParameters, FormulaChain } from './formula-chain/formula-chain.ts';
import { FormulaNodeProcess } from './formula-chain/formula-node-process.ts';
import { LoadGenerator, type LoadOptions } from './load-generator.ts';
import { FaultProxy } from './proxy/fault-proxy.ts';

export interface FaultTestbedOptions {
  readonly nodes?: number;
  /** Whether a proxy stands before each node. Forwarding takes CPU time of this process. */
  readonly proxied?: boolean;
  readonly plan?: Partial<ChainParameters>;
  /** Settings of the gateway, as `--set` takes them. */
  readonly set?: readonly string[];
  readonly load?: Partial<LoadOptions>;
  /** One in this many answers has its receipt verified. */
  readonly verifyEvery?: number;
}

/** State of a node in `/health`. */
export interface NodeHealth {
  readonly id: string;
  readonly status: string;
  readonly slot: number;
  readonly ws: string;
}

/** The answer of `/health` with its HTTP status. */
export interface Health {
  readonly code: number;
  readonly status: string;
  readonly slot: number;
  readonly upstreams: readonly NodeHealth[];
}

/** A gateway and its nodes, each in a child process, with a load generator. */
export class FaultTestbed {
  readonly chain: FormulaChain;
  readonly nodes: FormulaNodeProcess[];
  readonly proxies: readonly FaultProxy[];
  readonly gateway: GatewayProcess;
  readonly url: string;
  readonly load: LoadGenerator;

  static async start({
    nodes: count = 2,
    proxied = false,
    ...options
  }: FaultTestbedOptions = {}): Promise<FaultTestbed> {
    const chain = new FormulaChain({ ...DEFAULT_PLAN, originMs: Date.now() - CHAIN_AGE_MS, ...options.plan });
    const nodes = await Promise.all(Array.from({ length: count }, () => FormulaNodeProcess.start(chain.parameters)));
    const proxies = proxied ? await Promise.all(nodes.map(({ port }) => FaultProxy.start(port))) : [];
    const gateway = await GatewayProcess.start((proxied ? proxies : nodes).map(upstreamOnPort), options.set);
    const url = await gateway.url();
    const { publicKey }: any = await (await fetch(`${url}/api/v1/pubkey`)).json();
    const checker = new AnswerChecker({ publicKey, chain, verifyEvery: options.verifyEvery ?? 100 });
    const load = new LoadGenerator({ url, ...DEFAULT_LOAD, ...options.load }, checker);
    const testbed = new FaultTestbed({ chain, nodes, proxies, gateway, url, load });
    await testbed.waitUntil(async () => (await testbed.health()).status === 'ok', 15_000);
    return testbed;
  }

  private constructor(parts: Pick<FaultTestbed, 'chain' | 'nodes' | 'proxies' | 'gateway' | 'url' | 'load'>) {
    this.chain = parts.chain;
    this.nodes = parts.nodes;
    this.proxies = parts.proxies;
    this.gateway = parts.gateway;
    this.url = parts.url;
    this.load = parts.load;
  }

  async health(): Promise<Health> {
    const response = await fetch(`${this.url}/api/v1/health`);
    const { result, error }: any = await response.json();
    return { code: response.status, status: error, slot: 0, upstreams: [], ...result };
  }

  /** Waits until a condition holds; returns the milliseconds it took, or Infinity if it never held. */
  async waitUntil(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<number> {
    const beganMs = performance.now();
    while (!(await condition())) {
      if (performance.now() - beganMs > limitMs) return Number.POSITIVE_INFINITY;
      await sleep(10);
    }
    return performance.now() - beganMs;
  }

  /** Waits until a condition on a node's state in `/health` holds. */
  waitUntilNode(index: number, condition: (node: NodeHealth) => boolean, limitMs?: number): Promise<number> {
    return this.waitUntil(async () => {
      const node = (await this.health()).upstreams[index];
      return node !== undefined && condition(node);
    }, limitMs);
  }

  /** Kills a node and its connections. */
  async kill(index: number): Promise<void> {
    await this.nodes[index]?.kill();
  }

  /** Starts a node again on its port, with other chain parameters if given. */
  async restart(index: number, plan: Partial<ChainParameters> = {}): Promise<void> {
    const port = this.nodes[index]?.port;
    this.nodes[index] = await FormulaNodeProcess.start({ ...this.chain.parameters, ...plan }, port);
  }

  async close(): Promise<void> {
    await this.load.stop();
    await this.gateway.close();
    for (const proxy of this.proxies) await proxy.close();
    for (const node of this.nodes) await node.kill();
  }
}

/** Age of the chain at the start, so that there are finalized slots. */
const CHAIN_AGE_MS = 100_000;
const DEFAULT_PLAN = { genesis: GENESIS, slotMs: 400, maxUnchangedSlots: 24, forks: false };
const DEFAULT_LOAD = {
  requestsPerSecond: 500,
  hotAccounts: 20,
  coldEvery: 20,
  commitments: ['confirmed', 'finalized'],
} as const;

/** Runs `body` with a testbed, and closes the testbed in any case. */
export async function withFaultTestbed<T>(
  options: FaultTestbedOptions,
  body: (testbed: FaultTestbed) => Promise<T>,
): Promise<T> {
  const testbed = await FaultTestbed.start(options);
  try {
    return await body(testbed);
  } finally {
    await testbed.close();
  }
}
