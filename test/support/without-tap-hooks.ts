import hooks, { type AsyncHook } from 'node:async_hooks';
import module from 'node:module';

// Loaded before each test file. It removes three hooks of tap that take longer than most tests.

// tap has Node load each module through another thread, which records coverage data even where coverage is off.
Object.assign(module, { register() {} });

// tap does the same to each process that a test starts. It finds its hook of `spawn` in place already: this one is none.
const SPAWN_HOOK = Symbol.for('process-on-spawn@*:singletonId');
Object.assign(globalThis, { [SPAWN_HOOK]: { version: 1, listeners: [], unwrap() {} } });
delete process.env['NODE_OPTIONS'];

// tap follows every promise and timer to find the subtest of an uncaught error. Without that the file still fails.
const nothing: AsyncHook = { enable: () => nothing, disable: () => nothing };
Object.assign(hooks, { createHook: () => nothing });
module.syncBuiltinESMExports();
