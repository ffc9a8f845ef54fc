import { loadConfig } from '../../../src/config/load-config.ts';
import { tiersOf } from '../../../src/gateway/access/limits/tiers.ts';

export const DEFAULT_TIERS = tiersOf(loadConfig({ cwd: '/' }).limits);
