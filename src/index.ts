export { type Client, type ClientOptions, createClient, SlotgateError } from './client/client.ts';
export type { Config } from './config/config-schema.ts';
export { loadConfig } from './config/load-config.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { type Expected, type Verified, verifyReceipt } from './receipts/verify/verify-receipt.ts';
