import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import { serveTasks } from '../../../shared/runtime/thread-tasks.ts';
import { HolderRows, packHolderRows } from './holder-rows.ts';
import { packOwnerRows } from './owner-rows.ts';

/** The thread that makes tables of holders. It gets plain bytes where it was sent a Buffer; results are memory that threads share. */
const tasks = {
  packHolders: (...lists: Uint8Array[]) => packHolderRows(lists.map(asBuffer)),
  packOwners: (holders: SharedArrayBuffer) => packOwnerRows(new HolderRows(holders)),
};

export type TablingTasks = typeof tasks;

serveTasks(tasks);
