import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayProcess, onPort } from '../../support/gateway-process.ts';
import { GENESIS } from '../../support/scripted-node.ts';
import { type ChainPlan, FormulaChain } from './formula-chain/formula-chain.ts';
import { PlayedNode } from './formula-chain/played-node.ts';
import { Load, type LoadOptions } from './load.ts';
import { FaultProxy } from './proxy/fault-proxy.ts';
import { Witness } from './witness.ts';

export interface StageOptions {
  readonly nodes?: number;
  /** Whether there is a proxy before each node. What passes it takes the time of this process. */
  readonly proxied?: boolean;
  readonly plan?: Partial<ChainPlan>;
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
export class Stage {
  readonly chain: FormulaChain;
  readonly nodes: PlayedNode[];
  readonly proxies: readonly FaultProxy[];
  readonly gateway: GatewayProcess;
  readonly url: string;
  readonly load: Load;

  static async open({ nodes: count = 2, proxied = false, ...options }: StageOptions = {}): Promise<Stage> {
    const chain = new FormulaChain({ ...PLAN, originMs: Date.now() - AGE_MS, ...options.plan });
    const nodes = await Promise.all(Array.from({ length: count }, () => PlayedNode.start(chain.plan)));
    const proxies = proxied ? await Promise.all(nodes.map(({ port }) => FaultProxy.start(port))) : [];
    const gateway = await GatewayProcess.start((proxied ? proxies : nodes).map(onPort), options.set);
    const url = await gateway.url();
    const { publicKey }: any = await (await fetch(`${url}/api/v1/pubkey`)).json();
    const witness = new Witness({ publicKey, chain, verifyEvery: options.verifyEvery ?? 100 });
    const load = new Load({ url, ...LOAD, ...options.load }, witness);
    const stage = new Stage({ chain, nodes, proxies, gateway, url, load });
    await stage.until(async () => (await stage.health()).status === 'ok', 15_000);
    return stage;
  }

  private constructor(parts: Pick<Stage, 'chain' | 'nodes' | 'proxies' | 'gateway' | 'url' | 'load'>) {
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
  async until(condition: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<number> {
    const beganMs = performance.now();
    while (!(await condition())) {
      if (performance.now() - beganMs > limitMs) return Number.POSITIVE_INFINITY;
      await sleep(10);
    }
    return performance.now() - beganMs;
  }

  /** The same for what `/health` says of one node. */
  untilNode(index: number, condition: (node: NodeHealth) => boolean, limitMs?: number): Promise<number> {
    return this.until(async () => {
      const node = (await this.health()).upstreams[index];
      return node !== undefined && condition(node);
    }, limitMs);
  }

  /** Kills a node and everything that hangs on it. */
  async kill(index: number): Promise<void> {
    await this.nodes[index]?.kill();
  }

  /** Starts a node again where it was, perhaps on another chain. */
  async restart(index: number, plan: Partial<ChainPlan> = {}): Promise<void> {
    const port = this.nodes[index]?.port;
    this.nodes[index] = await PlayedNode.start({ ...this.chain.plan, ...plan }, port);
  }

  async close(): Promise<void> {
    await this.load.stop();
    await this.gateway.close();
    for (const proxy of this.proxies) await proxy.close();
    for (const node of this.nodes) await node.kill();
  }
}

/** Of the chain when a stage opens, so that there are finalized slots. */
const AGE_MS = 100_000;
const PLAN = { genesis: GENESIS, slotMs: 400, calmSlots: 24, forks: false };
const LOAD = { rate: 500, hot: 20, cold: 20, commitments: ['confirmed', 'finalized'] } as const;

/** Does something with a stage, and clears it away whatever happens. */
export async function onStage<T>(options: StageOptions, play: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await Stage.open(options);
  try {
    return await play(stage);
  } finally {
    await stage.close();
  }
}
