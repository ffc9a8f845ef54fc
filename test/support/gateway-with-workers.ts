import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import type { EmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { apiKeyRecord, issueKeys } from './access/api-key-fixtures.ts';
import { type ChildProgram, PATIENT_ARGS, runModule, waitUntilListening } from './child-process.ts';
import { waitFor } from './harness.ts';
import type { TestScope } from './test-scope.ts';

const RELOADED = 'all processes were replaced';

/** A gateway with workers, in processes of its own. */
export interface WorkersWorld {
  readonly child: ChildProgram;
  readonly url: string;
  /** The address of the listener for operators. */
  readonly admin: string;
  readonly state: string;
  readonly configPath: string;
  /** Returns the ids of its running processes by role: `pipeline`, or a worker's number. */
  processes(): ReadonlyMap<string, number>;
  /** Replaces all of its processes, and waits until that is done. */
  reload(): Promise<void>;
  /** Returns how often one of its processes has ended and was replaced. */
  restarts(): number;
}

interface DescribedNode {
  readonly operator: string;
  readonly url: string;
  readonly weight: number;
}

/** Starts a gateway with two workers over a cluster: over one node of it, or one of each operator that is named or described. */
export async function startWorkers(
  t: TestScope,
  { url: node, wsUrl }: Pick<EmbeddedCluster, 'url' | 'wsUrl'>,
  set: readonly string[] = [],
  operators: readonly (string | DescribedNode)[] = ['node-1'],
): Promise<WorkersWorld> {
  const upstreams = operators.map((each) => {
    const described = typeof each === 'string' ? { operator: each } : each;
    return { id: described.operator, url: node, ws: wsUrl, ...described };
  });
  const settings = [
    `upstreams=${JSON.stringify(upstreams)}`,
    'limits.free.units=10000000',
    'limits.connections=1000000',
    'limits.loopDelayMs=60000', // on a busy machine, too
    'limits.free.inFlight=1000',
    'limits.free.streams=100',
    ...set,
  ];
  const state = t.testdir();
  const configPath = join(state, 'config.json');
  writeFileSync(configPath, '{}');
  const child = runModule(new URL('../../src/main.js', import.meta.url), [
    ...['--port', '0', '--workers', '2', '--state', state, '--config', configPath],
    ...PATIENT_ARGS,
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  t.teardown(async () => {
    child.process.kill('SIGKILL'); // its processes end, too
    await child.exit();
  });
  const { url, admin = '' } = await waitUntilListening(child);
  return {
    child,
    url,
    admin,
    state,
    configPath,
    processes: () => childrenOf(child.process.pid ?? 0),
    reload() {
      const before = child.timesLogged(RELOADED);
      child.process.kill('SIGUSR2');
      return waitFor(() => child.timesLogged(RELOADED) > before, 'a reload');
    },
    restarts: () => child.timesLogged('the process runs again'),
  };
}

/** Returns the child processes of a process by the last word of their titles. */
export function childrenOf(pid: number): Map<string, number> {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean),
  );
  const titled = children.flatMap((child) => {
    try {
      const [, role] = /^slotgate (?:worker )?(\w+)\0*$/.exec(readFileSync(`/proc/${child}/cmdline`, 'latin1')) ?? [];
      return role === undefined ? [] : [[role, Number(child)] as const];
    } catch {
      return []; // it has ended
    }
  });
  return new Map(titled);
}

export interface Testimony {
  answers: number;
  /** Answers with a lower slot than an earlier one to the same witness, and frames with one number and two texts. */
  readonly contradictions: string[];
  /** Other answers, by status and text, and how often. */
  readonly refusals: Map<string, number>;
  /** Connections that ended without an answer. */
  cutOff: number;
}

interface WitnessAnswer {
  readonly status: number;
  readonly slot: number;
  readonly text: string;
}

/** Sends the same requests over several connections in turn, so to all workers, until `isOver`. */
export async function witness(
  url: string,
  paths: readonly string[],
  isOver: () => boolean,
  witnesses = 6,
): Promise<Testimony> {
  const testimony: Testimony = { answers: 0, contradictions: [], refusals: new Map(), cutOff: 0 };
  const frames = new Map<string, string>();
  const one = async (number: number): Promise<void> => {
    const newest = new Map<string, number>();
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let i = number; !isOver(); i++) {
      const path = paths[Math.floor(i / agents.length) % paths.length] ?? '';
      const answer = await fetchWitness(`${url}${path}`, agents[i % agents.length]);
      if (answer === undefined) testimony.cutOff++;
      else if (answer.status !== 200) {
        const what = `${answer.status} ${answer.text.slice(0, 80)}`;
        testimony.refusals.set(what, (testimony.refusals.get(what) ?? 0) + 1);
      } else {
        testimony.answers++;
        const before = newest.get(path) ?? 0;
        if (answer.slot < before) testimony.contradictions.push(`${path}: ${answer.slot} after ${before}`);
        newest.set(path, Math.max(before, answer.slot));
        const frame = /"seq":\d+,"stream":"\w+"/.exec(answer.text)?.[0];
        if (frame !== undefined && (frames.get(frame) ?? answer.text) !== answer.text)
          testimony.contradictions.push(`two texts for ${frame}`);
        if (frame !== undefined) frames.set(frame, answer.text);
      }
    }
    for (const agent of agents) agent.destroy();
  };
  await Promise.all(Array.from({ length: witnesses }, (_, number) => one(number)));
  return testimony;
}

const fetchWitness = (url: string, agent: Agent | undefined): Promise<WitnessAnswer | undefined> =>
  new Promise((resolve) => {
    const sending = request(url, { ...(agent && { agent }) }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, slot: Number(response.headers['x-slot']), text }),
      );
      response.on('error', () => resolve(undefined));
    });
    sending.on('error', () => resolve(undefined));
    sending.end();
  });

/** Sends one request a number of times, each over a connection of its own, so to all workers. Counts answers by status. */
export async function requestEach(
  url: string,
  headers: Record<string, string>,
  times: number,
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sending = request(url, { headers, agent: false }, (response) => {
        const { statusCode = 0 } = response.resume();
        counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
        response.on('end', resolve);
      });
      sending.on('error', reject).end();
    });
  for (let i = 0; i < times; i += PARALLEL) await Promise.all(Array.from({ length: PARALLEL }, one));
  return counts;
}

/** Connections at one time. */
const PARALLEL = 4;

/** Issues a key of the tier `build` that a gateway reads from its state folder. Returns what requests with it, and counts. */
export async function requestWithKey({ url, state }: Pick<WorkersWorld, 'url' | 'state'>) {
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key));
  let inAll = 0;
  return {
    /** Requests a slot this number of times. Returns how many requests were admitted. */
    async admitted(times: number): Promise<number> {
      const counts = await requestEach(`${url}/api/v1/slot`, { 'x-api-key': key }, times);
      const admitted = counts.get(200) ?? 0;
      inAll += admitted;
      return admitted;
    },
    /** How many requests were admitted since the key was issued. */
    get inAll() {
      return inAll;
    },
  };
}
