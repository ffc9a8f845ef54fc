export { type Client, type ClientOptions, createClient, SlotgateError } from './client/index.ts';
export { type Expected, type Verified, verifyReceipt } from './client/verify/index.ts';
export type { Settings } from './config/config-schema.ts';
export { type CreateGatewayOptions, createGateway, type Gateway } from './gateway/index.ts';
export { StartError } from './shared/domain/start-error.ts';
export { createLog, type Log, type LogLevel } from './shared/runtime/log.ts';
