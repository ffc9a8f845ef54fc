import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import { HolderRows, packHolderRows } from './holder-rows.ts';
import { packOwnerRows } from './owner-rows.ts';

/** What makes tables, in a thread. A thread gets plain bytes where it was sent a Buffer; results are shared memory. */
export const tablingTasks = {
  packHolders: (...lists: Uint8Array[]): SharedArrayBuffer => packHolderRows(lists.map(asBuffer)),

  packOwners: (holders: SharedArrayBuffer): SharedArrayBuffer => packOwnerRows(new HolderRows(holders)),
};
