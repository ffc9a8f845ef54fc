import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import type { TablingTasks } from '../routing/holder-tables.ts';
import { HolderRows, packHolderRows } from './holder-rows.ts';
import { packOwnerRows } from './owner-rows.ts';

export const tablingTasks: TablingTasks = {
  packHolders: (...lists) => packHolderRows(lists.map(asBuffer)),
  packOwners: (holders) => packOwnerRows(new HolderRows(holders)),
};
