import { tiersOf } from '../../src/access/tier.ts';
import { loadConfig } from '../../src/config.ts';

/** The tiers as they ship. */
export const TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
