import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { GatewayError } from '../domain/gateway-error.ts';

/** Functions that a thread performs, by name: of values that can be cloned, without side effects. */
export type ThreadTasks = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface TaskMessage {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** What a thread answers: the result, what the caller did wrong, or a defect. */
export type TaskReply =
  | { readonly result: unknown }
  | { readonly refusal: Pick<GatewayError, 'code' | 'message'> }
  | { readonly defect: unknown };

/** First message of a thread, sent once it has loaded its modules. */
export const READY = 'ready';

/** Performs the tasks that the pool of this thread sends, one after the other. */
export function serveTasks(tasks: ThreadTasks): void {
  if (parentPort === null) throw new Error('tasks are served in a worker thread');
  const port = parentPort;
  lowerPriority();
  port.on('message', (message: TaskMessage) => port.postMessage(replyTo(tasks, message)));
  port.postMessage(READY);
}

/** The niceness of a thread: a third of the event loop's share of a core that both want (sched(7)). */
const NICENESS = 5;

/** The kernel then prefers the event loop where both want a core. Only on Linux a thread has a priority. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1)); // PID/task/TID
    setPriority(threadId, NICENESS);
  } catch {
    // without it the work is as quick, only others wait longer
  }
}

function replyTo(tasks: ThreadTasks, { name, args }: TaskMessage): TaskReply {
  try {
    return { result: tasks[name]?.(...(args as never[])) }; // the pool's type admits no other
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) return { defect: thrown };
    const { code, message } = thrown;
    return { refusal: { code, message } };
  }
}
