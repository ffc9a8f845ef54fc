import { SITE_FACTOR } from '../../../../src/access/limits/rate-limiter.ts';
import { loadConfig } from '../../../../src/config/config-schema.ts';
import { countCrowd } from '../../../support/access/caller-flood.ts';
import { shown } from '../../row.ts';
import { atMost, grownBy, type Row, times } from '../row.ts';

/** More callers than a limiter has windows for. */
export const crowded: Row = {
  id: '21',
  what: 'callers without number, of IPv4 and of one IPv6 /48',
  async run(_, pace) {
    const { free, identities } = loadConfig({ cwd: '/' }).limits;
    const callers = times(pace, 300_000, 1_000_000, 1_000_000);
    const [ipv4, ipv6] = [await countCrowd('ipv4', callers), await countCrowd('ipv6', callers)];
    return [
      shown('callers each', callers),
      atMost('IPv4: windows', ipv4.windows, identities),
      atMost('admitted', ipv4.admitted, identities + free.requests - 1),
      grownBy(0, ipv4.bytes, 40),
      atMost('IPv6: admitted', ipv6.admitted, free.requests * SITE_FACTOR),
      grownBy(0, ipv6.bytes, 40),
    ];
  },
};
