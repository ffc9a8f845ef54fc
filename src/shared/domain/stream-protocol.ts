// What both ends of the stream must agree on.

/** The most addresses in one message: more don't fit into 4 KiB with an id. */
export const MAX_ADDRESSES = 80;

/** What the gateway answers with. A browser sends no header: it offers its API key next to it, which is never sent back. */
export const SUBPROTOCOL = 'slotgate';
