import hooks, { type AsyncHook } from 'node:async_hooks';
import module from 'node:module';

// Runs ahead of each test file, and takes away two things of tap's that cost more than most tests themselves.

// It has node load every module by way of another thread, which notes what coverage would need, also where that is off.
Object.assign(module, { register() {} });

// It has node tell it of every promise and timer, so as to know to which subtest an error belongs that nobody caught.
// Without that the file fails with it all the same.
const nothing: AsyncHook = { enable: () => nothing, disable: () => nothing };
Object.assign(hooks, { createHook: () => nothing });
module.syncBuiltinESMExports();
