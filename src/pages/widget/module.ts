// The widget as a module of the client package: with `verify` each frame is checked before it is shown, by code that does
// not come from the gateway.
export type { Snapshot } from '../../client/index.ts';
export { defineStatusElement, type WidgetOptions } from './slotgate-status.ts';
export type { Verify } from './verify.ts';
