import type { MessagePort, Worker } from 'node:worker_threads';
import type { ClusterControl } from './cluster-control.ts';

interface RemoteCall {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

type RemoteReply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: unknown };

/** Accepts the commands of these names: all of its control's. Calls are rejected once the thread has `ended`. */
export function createRemoteControl(worker: Worker, names: readonly string[], ended: Promise<unknown>): ClusterControl {
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
  const call = (name: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!isAlive) return reject(endedError());
      const id = ++lastCallId;
      pendingCalls.set(id, { resolve, reject });
      worker.postMessage({ id, name, args } satisfies RemoteCall);
    });
  const members = names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]);
  return Object.fromEntries(members); // the thread has named every command
}

export function serveRemoteControl(port: MessagePort, commands: ClusterControl): void {
  port.on('message', ({ id, name, args }: RemoteCall) => {
    const command = commands[name as keyof ClusterControl] as (...args: readonly unknown[]) => Promise<unknown>; // the other end has the names of these
    command(...args)
      .then((result) => port.postMessage({ id, result } satisfies RemoteReply))
      .catch((error: unknown) => port.postMessage({ id, error } satisfies RemoteReply));
  });
}
