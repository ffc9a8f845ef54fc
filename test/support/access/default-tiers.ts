import { tiersOf } from '../../../src/access/limits/tiers.ts';
import { loadConfig } from '../../../src/config/config-schema.ts';

/** The tiers as they ship. */
export const DEFAULT_TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
