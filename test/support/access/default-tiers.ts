import { tiersOf } from '../../../src/access/limits/tiers.ts';
import { loadConfig } from '../../../src/config/load-config.ts';

/** The default tiers. */
export const DEFAULT_TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
