import module from 'node:module';

// Runs ahead of each test file. tap has node load every module by way of another thread, which notes what coverage
// would need, also where coverage is off; for files that load in no time this was most of what they took.
Object.assign(module, { register() {} });
