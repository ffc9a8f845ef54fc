import { serveTasks } from '../../../shared/runtime/thread-tasks.ts';
import { tablingTasks } from './tabling-tasks.ts';

// The module of a thread that makes tables of holders.
serveTasks(tablingTasks);
