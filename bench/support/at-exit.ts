const tasks: (() => void)[] = [];

/** Runs a task when this process ends, also by a signal: a benchmark leaves no process and no file. */
export function atExit(task: () => void): void {
  tasks.push(task);
  if (tasks.length > 1) return;
  process.once('exit', () => {
    for (const run of tasks) run();
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
