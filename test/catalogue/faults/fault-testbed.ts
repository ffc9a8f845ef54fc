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
  /** Whether there is a proxy before each node. What passes it takes the time of this process. */
  readonly proxied?: boolean;
  readonly plan?: Partial<ChainParameters>;
  /** Settings of the gateway, as `--set` takes them. */
  readonly set?: readonly string[];
  readonly load?: Partial<LoadOptions>;
  /** Of so many answers one has its receipt verified. */
  readonly verifyEvery?: number;
}

/** How a node looks in `/health`. */
export interface NodeHealth {
  readonly id: string;
  readonly status: string;
  readonly slot: number;
  readonly ws: string;
}

/** What `/health` says, with the status of the answer. */
export interface Health {
  readonly code: number;
  readonly status: string;
  readonly slot: number;
  readonly upstreams: readonly NodeHealth[];
}

/** A gateway in a process of its own, over nodes in processes of their own, and who reads from it. */
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

  /** Waits until something holds, and gives how many milliseconds that took. Infinite when it never did. */
  async waitUntil(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<number> {
    const beganMs = performance.now();
    while (!(await condition())) {
      if (performance.now() - beganMs > limitMs) return Number.POSITIVE_INFINITY;
      await sleep(10);
    }
    return performance.now() - beganMs;
  }

  /** The same for what `/health` says of one node. */
  waitUntilNode(index: number, condition: (node: NodeHealth) => boolean, limitMs?: number): Promise<number> {
    return this.waitUntil(async () => {
      const node = (await this.health()).upstreams[index];
      return node !== undefined && condition(node);
    }, limitMs);
  }

  /** Kills a node and everything that hangs on it. */
  async kill(index: number): Promise<void> {
    await this.nodes[index]?.kill();
  }

  /** Starts a node again where it was, perhaps on another chain. */
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

/** Of the chain when a stage opens, so that there are finalized slots. */
const CHAIN_AGE_MS = 100_000;
const DEFAULT_PLAN = { genesis: GENESIS, slotMs: 400, maxUnchangedSlots: 24, forks: false };
const DEFAULT_LOAD = {
  requestsPerSecond: 500,
  hotAccounts: 20,
  coldEvery: 20,
  commitments: ['confirmed', 'finalized'],
} as const;

/** Does something with a stage, and clears it away whatever happens. */
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
