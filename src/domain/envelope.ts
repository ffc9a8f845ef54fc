/** How an answer is dressed: result, slot and receipt; result and slot; result alone; or not at all. */
export type Envelope = 'signed' | 'anchored' | 'bare' | 'plain';
