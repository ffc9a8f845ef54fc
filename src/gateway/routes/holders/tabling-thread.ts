import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import { serveTasks } from '../../../shared/runtime/thread-tasks.ts';
import type { TablingTasks } from '../routing/holder-tables.ts';
import { HolderRows, packHolderRows } from './holder-rows.ts';
import { packOwnerRows } from './owner-rows.ts';

// The module of a thread that makes tables of holders.
serveTasks({
  packHolders: (...lists) => packHolderRows(lists.map(asBuffer)),
  packOwners: (holders) => packOwnerRows(new HolderRows(holders)),
} satisfies TablingTasks);
