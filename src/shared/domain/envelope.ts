/**
 * The form of a body: `signed` has result, slot and receipt; `anchored` result and slot; `bare` the result as a member;
 * `plain` is the result itself.
 */
export type Envelope = 'signed' | 'anchored' | 'bare' | 'plain';
