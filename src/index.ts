export { type Client, type ClientOptions, createClient, SlotgateError } from './client/client.ts';
export type { Config } from './config/config-schema.ts';
export { loadConfig } from './config/load-config.ts';
export { createGateway, type Gateway } from './gateway/create-gateway.ts';
export type { GatewayOptions } from './gateway/environment.ts';
export { type Expected, type Verified, verifyReceipt } from './receipts/verify/verify-receipt.ts';
