import type { MessagePort, Worker } from 'node:worker_threads';
import type { Control } from './control.ts';

/** One call, as it goes to the thread of the cluster. */
interface Call {
  readonly id: number;
  readonly name: keyof Commands;
  readonly args: readonly unknown[];
}

type Reply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: unknown };

/** What the other thread can be asked: all of the control, and to end. */
interface Commands extends Control {
  close(): Promise<void>;
}

const NAMES: { readonly [name in keyof Commands]: true } = {
  pauseSlots: true,
  resumeSlots: true,
  lag: true,
  fork: true,
  dropWebSockets: true,
  closeWebSockets: true,
  silenceWebSockets: true,
  rateLimit: true,
  minContextSlotErrors: true,
  leaveUnwritten: true,
  delay: true,
  lieAboutSlot: true,
  stopListening: true,
  startListening: true,
  requests: true,
  close: true,
};

/** The control of a cluster in another thread. Calls are refused once the thread has `ended`. */
export function remoteControl(
  worker: Worker,
  ended: Promise<unknown>,
): { readonly control: Control; close(): Promise<void> } {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  let calls = 0;
  let alive = true;
  worker.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) call?.reject(reply.error);
    else call?.resolve(reply.result);
  });
  const gone = (): Error => new Error('the embedded cluster has ended');
  void ended.then(() => {
    alive = false;
    for (const { reject } of waiting.values()) reject(gone());
  });
  const call = (name: keyof Commands, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!alive) return reject(gone());
      const id = ++calls;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, args } satisfies Call);
    });
  const members = Object.keys(NAMES).map((name) => [
    name,
    (...args: readonly unknown[]) => call(name as keyof Commands, args), // a key of NAMES
  ]);
  const commands: Commands = Object.fromEntries(members); // NAMES has every command, each by its own name
  return { control: commands, close: () => commands.close() };
}

/** Obeys the calls that come through a port. */
export function obey(port: MessagePort, commands: Commands): void {
  port.on('message', ({ id, name, args }: Call) => {
    const command = commands[name] as (...args: readonly unknown[]) => Promise<unknown>; // the caller's types saw to args
    command(...args).then(
      (result) => port.postMessage({ id, result } satisfies Reply),
      (error: unknown) => port.postMessage({ id, error } satisfies Reply),
    );
  });
}
