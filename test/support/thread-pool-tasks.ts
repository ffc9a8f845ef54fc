import { readFileSync } from 'node:fs';
import { GatewayError } from '../../src/shared/domain/gateway-error.ts';
import { serveTasks } from '../../src/shared/runtime/thread-tasks.ts';

/** What the threads of the pool's test do. */
export const tasks = {
  echo: (text: string): string => text,
  /** Holds the thread until the first number is no longer 0. */
  hold: (gate: Int32Array): string => Atomics.wait(gate, 0, 0),
  loopForever(): never {
    for (;;);
  },
  /** Returns the niceness of this thread (proc_pid_stat(5), field 19). */
  niceness: (): number => Number(readFileSync('/proc/thread-self/stat', 'latin1').split(') ')[1]?.split(' ')[16]),
  refuse(): never {
    throw new GatewayError('invalid_json', 'the body is not JSON');
  },
  fail(): never {
    throw new TypeError('a defect');
  },
  exhaustMemory(): never {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, () => ({})));
  },
};

serveTasks(tasks);
