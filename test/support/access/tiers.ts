import { tiersOf } from '../../../src/access/limits/tier.ts';
import { loadConfig } from '../../../src/config/config.ts';

/** The tiers as they ship. */
export const TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
