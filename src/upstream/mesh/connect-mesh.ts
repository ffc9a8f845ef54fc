import { COMMITMENTS } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import type { NodeOptions, Surroundings } from '../options.ts';
import { unreachable } from '../rpc/rpc-errors.ts';
import { bestRead } from './best-read.ts';
import { inOrder } from './choice.ts';
import { JumpGuard } from './jump-guard.ts';
import { Member } from './member.ts';
import type { Mesh } from './mesh.ts';
import type { Peers } from './peers.ts';
import { begin } from './start.ts';
import { Tips } from './tips.ts';

export interface MeshOptions extends Surroundings {
  /** In order of preference, where nothing else tells between them. */
  readonly nodes: readonly NodeOptions[];
  /** The genesis hash that the nodes must have. Without one the first node to answer decides. */
  readonly expectedCluster?: string | null;
  /** Told, in words without any URL, what an operator should know. */
  readonly onProblem?: (nodeId: string, problem: string) => void;
}

/** Connects to a cluster. Resolves when a node has shown its slots; throws `upstream_unavailable` after `startMs`. */
export async function connectMesh(options: MeshOptions): Promise<Mesh> {
  const { nodes, clock, random, settings, onProblem = () => {} } = options;
  const surroundings: Surroundings = { clock, random, settings };
  const budget = new ByteBudget(settings.inFlightBytes);
  const tips = new Tips();
  const newGuard = () => new JumpGuard({ clock, ...settings });
  const guards = { processed: newGuard(), confirmed: newGuard(), finalized: newGuard() };
  let expected = options.expectedCluster ?? undefined;
  let begun = false;
  let closed = false;

  const peers: Peers = {
    belongs(genesisHash) {
      expected ??= genesisHash;
      return genesisHash === expected;
    },
    show(id, commitment, slot) {
      if (begun) guards[commitment].show(id, slot);
    },
    believes: (commitment, slot) => guards[commitment].believes(slot),
    doubts: (id) => COMMITMENTS.some((commitment) => guards[commitment].doubts(id)),
    reached: (commitment, slot) => tips.show(commitment, slot),
    tip: (commitment) => tips.newest(commitment),
  };
  const members = nodes.map((node) => new Member({ node, surroundings, budget, peers, onProblem }));
  const close = async () => {
    closed = true;
    await Promise.all(members.map((member) => member.close()));
  };

  const { cluster, anchor } = await begin(members, surroundings).catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  begun = true;
  for (const commitment of COMMITMENTS) {
    tips.on(commitment, () => {
      for (const member of members) member.compare();
    });
  }
  for (const member of new Set([anchor, ...members])) member.showAgain();
  for (const member of members) member.start();
  // What is claimed by a line must not fall behind with its node while another does better.
  tips.on('processed', () => {
    if (members.some(({ fit }) => fit)) for (const member of members) if (member.out) member.lines.drop();
  });

  const forLines = () => members.filter(({ trusted }) => trusted);
  const bestForLine = () =>
    inOrder(
      forLines()
        .filter(({ lines }) => lines.restMs === 0)
        .map((member) => ({ member, ...member.choice('getMultipleAccounts') })),
      random,
    )[0]?.member;

  return {
    cluster,
    get apiVersion() {
      return members.find(({ node }) => node.apiVersion !== undefined)?.node.apiVersion;
    },
    get requests() {
      return members.reduce((sum, { node }) => sum + node.requests, 0);
    },
    call: (method, params = [], how = {}) => bestRead({ members, clock, random, tip: peers.tip }, method, params, how),
    tip: (commitment) => tips.newest(commitment),
    onTip: (commitment, listener) => tips.on(commitment, listener),
    async openLine() {
      while (!closed) {
        try {
          const line = await bestForLine()?.lines.open();
          if (line !== undefined && !line.lost) return line;
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
        }
        const rests = forLines().map(({ lines }) => lines.restMs);
        const pauseMs = rests.length > 0 ? Math.min(...rests) : settings.backoffMinMs;
        if (pauseMs > 0) await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
      throw unreachable();
    },
    nodes: () => members.map((member) => member.status()),
    close,
  };
}
