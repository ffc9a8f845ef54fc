import { SITE_FACTOR } from '../../../../src/access/limits/rate-limit-key.ts';
import { loadConfig } from '../../../../src/config/load-config.ts';
import { floodLimiter } from '../../../support/access/caller-flood.ts';
import { info } from '../../findings.ts';
import { countFor, expectAtMost, MiB, type WireRow } from '../wire-row.ts';

/** More callers than a limiter has windows. */
export const callerFlood: WireRow = {
  id: '21',
  title: 'very many callers, of IPv4 and of one IPv6 /48',
  async run(_, runLength) {
    const { free, identities } = loadConfig({ cwd: '/' }).limits;
    const callers = countFor(runLength, 300_000, 1_000_000, 1_000_000);
    const [ipv4, ipv6] = [await floodLimiter('ipv4', callers), await floodLimiter('ipv6', callers)];
    return [
      info('callers each', callers),
      expectAtMost('IPv4: windows', ipv4.windows, identities),
      expectAtMost('admitted', ipv4.admitted, identities + free.requests - 1),
      expectAtMost('memory grew by', ipv4.grownBytes / MiB, 40, ' MiB'),
      expectAtMost('IPv6: admitted', ipv6.admitted, free.requests * SITE_FACTOR),
      expectAtMost('memory grew by', ipv6.grownBytes / MiB, 40, ' MiB'),
    ];
  },
};
