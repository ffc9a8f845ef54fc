import { serveTasks } from '../../../shared/runtime/thread-tasks.ts';
import { decodingTasks } from './decoding-tasks.ts';

// The module of a thread that decodes transactions.
serveTasks(decodingTasks);
