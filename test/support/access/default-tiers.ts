import { tiersOf } from '../../../src/access/limits/tiers.ts';
import { loadConfig } from '../../../src/config/config-schema.ts';

/** The default tiers. */
export const DEFAULT_TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
