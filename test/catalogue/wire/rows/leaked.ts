import { leaksIn, letOut } from '../../../support/let-out.ts';
import { inPlace } from '../../../support/place.ts';
import { none, shown } from '../../row.ts';
import type { Row } from '../row.ts';

/** The signing seed, API keys and the credentials in an upstream's URLs, sought in whatever a gateway lets out. */
export const leaked: Row = {
  id: '25',
  what: 'secrets in logs, answers, errors, the title, files, and what the node hears',
  async run() {
    const found = await inPlace(letOut);
    const leaks = leaksIn(found);
    for (const leak of leaks) console.error(`   ${leak}`);
    const { secrets, said, heard } = found;
    return [
      shown('secrets', Object.values(secrets).flat().length),
      shown(
        'bytes searched',
        [...Object.values(said), ...heard].reduce((sum, text) => sum + text.length, 0),
      ),
      none('found', leaks.length),
    ];
  },
};
