import { collectExposedOutput, findLeaks } from '../../../support/secret-leaks.ts';
import { withTestScope } from '../../../support/test-scope.ts';
import { expectNone, info } from '../../findings.ts';
import type { WireRow } from '../wire-row.ts';

/** The signing seed, API keys and upstream credentials, searched for in all output of a gateway. */
export const secretLeaks: WireRow = {
  id: '25',
  title: 'secrets in logs, answers, errors, the process title, files and requests to the node',
  async run() {
    const found = await withTestScope(collectExposedOutput);
    const leaks = findLeaks(found);
    for (const leak of leaks) console.error(`   ${leak}`);
    const { secrets, outputs, nodeRequests } = found;
    return [
      info('secrets', Object.values(secrets).flat().length),
      info(
        'bytes searched',
        [...Object.values(outputs), ...nodeRequests].reduce((sum, text) => sum + text.length, 0),
      ),
      expectNone('found', leaks.length),
    ];
  },
};
