import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS } from '../domain/commitment.ts';
import { GatewayError } from '../domain/error.ts';
import { backoffMs } from './backoff.ts';
import type { Line } from './line.ts';
import { Member } from './member.ts';
import type { Mesh } from './mesh.ts';
import type { NodeOptions, Surroundings } from './options.ts';
import { faultOf } from './rpc-errors.ts';
import { Tips } from './tips.ts';

export interface MeshOptions extends Surroundings {
  /** In order of preference. */
  readonly nodes: readonly NodeOptions[];
  /** The genesis hash that the nodes must have. Without one the first node to answer decides. */
  readonly expectedCluster?: string | null;
  /** Told, in words without any URL, what an operator should know. */
  readonly onProblem?: (nodeId: string, problem: string) => void;
}

const HEALTH = ['ok', 'behind', 'stalled', 'down'] as const;

/** Connects to a cluster. Resolves when a node has shown its slots; throws `upstream_unavailable` after `startMs`. */
export async function connectMesh(options: MeshOptions): Promise<Mesh> {
  const { nodes, clock, random, settings, onProblem = () => {} } = options;
  const tips = new Tips(clock);
  let expected = options.expectedCluster ?? undefined;
  const belongs = (genesisHash: string) => {
    expected ??= genesisHash;
    return genesisHash === expected;
  };
  const lines = new Set<Line>();
  const members = nodes.map(
    (node) => new Member({ node, surroundings: { clock, random, settings }, belongs, onProblem }),
  );
  for (const { node } of members) {
    for (const commitment of COMMITMENTS) node.tips.on(commitment, (slot) => tips.show(commitment, slot));
  }
  let closed = false;
  const close = async () => {
    closed = true;
    for (const line of lines) line.close();
    await Promise.all(members.map((member) => member.close()));
  };

  /** The best first; a node of another cluster never. */
  const byHealth = () => {
    const best = tips.newest('processed');
    return members
      .filter(({ refused }) => !refused)
      .map((member) => ({
        member,
        rank: HEALTH.indexOf(member.status(best).status) + (member.node.pauseSeconds > 0 ? HEALTH.length : 0),
      }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ member }) => member);
  };

  const keep = (line: Line): Line => {
    lines.add(line);
    line.onLost(() => lines.delete(line));
    if (closed) line.close();
    return line;
  };

  const admission = firstAdmission(members, clock, settings.startMs, settings.backoffMinMs);
  const cluster = await admission.catch(async (thrown: unknown) => {
    await close();
    throw thrown;
  });
  for (const member of members) member.start();

  return {
    cluster,
    get apiVersion() {
      return byHealth()[0]?.node.apiVersion;
    },
    get requests() {
      return members.reduce((sum, { node }) => sum + node.requests, 0);
    },
    async call(method, params = [], { commitment = 'confirmed' } = {}) {
      const [first, second] = byHealth();
      if (first === undefined) throw unreachable();
      try {
        return await first.read(method, params, commitment);
      } catch (thrown) {
        if (second === undefined || !mayGoBetter(thrown)) throw thrown;
        return await second.read(method, params, commitment).catch((again: unknown) => {
          throw mayGoBetter(again) ? thrown : again;
        });
      }
    },
    tip: (commitment) => tips.newest(commitment),
    onTip: (commitment, listener) => tips.on(commitment, listener),
    async openLine() {
      for (let failures = 1; !closed; failures++) {
        try {
          const line = await byHealth()[0]?.openLine();
          if (line !== undefined) return keep(line);
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
        }
        await new Promise<void>((resolve) => clock.after(backoffMs(failures, options), resolve));
      }
      throw unreachable();
    },
    nodes: () => members.map((member) => member.status(tips.newest('processed'))),
    close,
  };
}

/** Asks the nodes in order, again and again, until one is of our cluster. */
async function firstAdmission(
  members: readonly Member[],
  clock: Clock,
  startMs: number,
  pauseMs: number,
): Promise<string> {
  const end = clock.monotonic() + startMs;
  for (let cause: unknown; ; ) {
    for (const member of members) {
      try {
        return await member.admit();
      } catch (thrown) {
        cause = thrown;
      }
    }
    if (clock.monotonic() + pauseMs > end) throw unreachable(cause);
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
  }
}

/** Whether another node may answer what one has failed to answer with this. */
function mayGoBetter(thrown: unknown): boolean {
  const fault = thrown instanceof GatewayError ? faultOf(thrown) : 'caller'; // a defect is the same everywhere
  return fault !== 'caller' && fault !== 'fact';
}

const unreachable = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_unavailable', 'no node of the cluster can be reached', { cause });
