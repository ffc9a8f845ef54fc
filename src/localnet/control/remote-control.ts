import type { MessagePort, Worker } from 'node:worker_threads';
import type { ClusterControl } from './cluster-control.ts';

/** Call that is sent to the thread of the cluster. */
interface RemoteCall {
  readonly id: number;
  readonly name: keyof RemoteCommands;
  readonly args: readonly unknown[];
}

type RemoteReply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: unknown };

/** Calls that the thread accepts: the cluster control, and `close`. */
interface RemoteCommands extends ClusterControl {
  close(): Promise<void>;
}

const COMMAND_NAMES: { readonly [name in keyof RemoteCommands]: true } = {
  pauseSlots: true,
  resumeSlots: true,
  lagBehind: true,
  fork: true,
  dropWebSockets: true,
  closeWebSockets: true,
  silenceWebSockets: true,
  limitSubscriptions: true,
  rateLimit: true,
  failMinContextSlot: true,
  withholdBlockStatus: true,
  delayResponses: true,
  skewSlots: true,
  stopListening: true,
  startListening: true,
  requestCounts: true,
  subscriptionCounts: true,
  close: true,
};

/** Creates the control of a cluster in another thread. Calls are rejected once the thread has `ended`. */
export function createRemoteControl(
  worker: Worker,
  ended: Promise<unknown>,
): { readonly control: ClusterControl; close(): Promise<void> } {
  const pendingCalls = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  let lastCallId = 0;
  let isAlive = true;
  worker.on('message', (reply: RemoteReply) => {
    const call = pendingCalls.get(reply.id);
    pendingCalls.delete(reply.id);
    if ('error' in reply) call?.reject(reply.error);
    else call?.resolve(reply.result);
  });
  const endedError = (): Error => new Error('the embedded cluster has ended');
  void ended.then(() => {
    isAlive = false;
    for (const { reject } of pendingCalls.values()) reject(endedError());
  });
  const call = (name: keyof RemoteCommands, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!isAlive) return reject(endedError());
      const id = ++lastCallId;
      pendingCalls.set(id, { resolve, reject });
      worker.postMessage({ id, name, args } satisfies RemoteCall);
    });
  const members = Object.keys(COMMAND_NAMES).map((name) => [
    name,
    (...args: readonly unknown[]) => call(name as keyof RemoteCommands, args), // a key of COMMAND_NAMES
  ]);
  const commands: RemoteCommands = Object.fromEntries(members); // COMMAND_NAMES has every command, each by its name
  return { control: commands, close: () => commands.close() };
}

/** Executes the calls that arrive at a port. */
export function serveRemoteControl(port: MessagePort, commands: RemoteCommands): void {
  port.on('message', ({ id, name, args }: RemoteCall) => {
    const command = commands[name] as (...args: readonly unknown[]) => Promise<unknown>; // checked by their types
    command(...args)
      .then((result) => port.postMessage({ id, result } satisfies RemoteReply))
      .catch((error: unknown) => port.postMessage({ id, error } satisfies RemoteReply));
  });
}
