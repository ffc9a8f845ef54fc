import { Argument, type Command } from 'commander';
import { createClient } from '../../client/index.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { chooseGateway, requestFailure } from './gateway-options.ts';
import {
  forgetGateway,
  type PinnedGateway,
  pinGateway,
  pinnedGatewayPath,
  readPinnedGateway,
} from './pinned-gateway.ts';

/** Declares `slotgate use`, by which the commands that read a gateway know which, and what key to trust. */
export function declareUse(use: Command): void {
  use
    .addArgument(new Argument('[url]', 'the gateway; without it, the present one is printed'))
    .option('--forget', 'read the gateway of this machine again')
    .addHelpText('after', '\nExamples:\n  slotgate use https://GATEWAY\n  slotgate use\n  slotgate use --forget')
    .action(async (url: string | undefined, { forget }: { readonly forget?: true }, command: Command) => {
      if (forget !== undefined) {
        forgetGateway(process.env);
        process.stderr.write(`removed ${pinnedGatewayPath(process.env)}\n`);
        return;
      }
      const pinned = readPinnedGateway(process.env);
      if (url === undefined && pinned === undefined)
        throw new StartError(1, 'no gateway is pinned: slotgate use URL pins one');
      const shown = url === undefined ? pinned : await pinAt(url, command);
      if (shown !== undefined) process.stdout.write(describe(shown));
    });
}

/** Pins a gateway by what it says of itself now; one that is pinned already must still have a key that follows from that. */
async function pinAt(url: string, command: Command): Promise<PinnedGateway> {
  const chosen = await chooseGateway({ url }, command);
  try {
    const { publicKey } = (await createClient({ url }).get('/pubkey')).result;
    const client = createClient({ ...chosen, publicKey: chosen.publicKey ?? publicKey });
    const { receipt } = await client.get('/slot');
    const gateway = { url, publicKey, cluster: receipt.cluster };
    pinGateway(process.env, gateway);
    process.stderr.write(`pinned in ${pinnedGatewayPath(process.env)}\n`);
    return gateway;
  } catch (thrown) {
    throw requestFailure(thrown, url);
  }
}

function describe({ url, publicKey, cluster }: PinnedGateway): string {
  const name = CLUSTER_NAMES[cluster];
  const rows = [
    ['URL', url],
    ['Key', publicKey],
    ['Cluster', name === undefined ? cluster : `${cluster} (${name})`],
  ];
  return rows.map(([label = '', value = '']) => `${label.padEnd(8)} ${terminalText(value)}\n`).join('');
}
