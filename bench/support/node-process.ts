import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { NodeCommand, NodeCounts, NodeOptions, SlotNotification } from '../processes/notifying-node.ts';
import { atExit } from './at-exit.ts';
import { pinToOtherCore } from './server-process.ts';

/** A node in a process of its own, on the core of the load. */
export interface NodeProcess {
  readonly port: number;
  /** Its URLs, as `--upstream` accepts them. */
  readonly upstream: string;
  counts(): Promise<NodeCounts>;
  /** Lets accounts change once in this number of slots; 0: never. */
  changeEvery(slots: number): Promise<NodeCounts>;
  onSlot(listener: (slot: SlotNotification) => void): void;
  stop(): void;
}

const DEFAULTS: NodeOptions = {
  slotMs: 400,
  changeEvery: 0,
  accounts: 'system',
  maxSubscriptions: 1_000_000,
};

export async function startNode(options: Partial<NodeOptions> = {}): Promise<NodeProcess> {
  pinToOtherCore(); // a process is bound to the core of its parent
  const module = fileURLToPath(new URL('../processes/notifying-node.js', import.meta.url));
  const child = fork(module, [JSON.stringify({ ...DEFAULTS, ...options })]);
  atExit(() => child.kill('SIGKILL'));
  const [port] = await once(child, 'message');
  const send = async (command: NodeCommand): Promise<NodeCounts> => {
    const answer = new Promise<NodeCounts>((resolve) => {
      const onMessage = (message: NodeCounts | SlotNotification): void => {
        if ('atMs' in message) return;
        child.off('message', onMessage);
        resolve(message);
      };
      child.on('message', onMessage);
    });
    child.send(command);
    return answer;
  };
  return {
    port,
    upstream: `http://127.0.0.1:${port},ws://127.0.0.1:${port}`,
    counts: () => send('counts'),
    changeEvery: (slots) => send({ changeEvery: slots }),
    onSlot: (listener) =>
      child.on('message', (message: NodeCounts | SlotNotification) => {
        if ('atMs' in message) listener(message);
      }),
    stop: () => child.kill('SIGKILL'),
  };
}
