import { Argument, type Command } from 'commander';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import { CLUSTER_NAMES } from '../../shared/domain/cluster-names.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { visibleText } from '../../shared/domain/visible-text.ts';
import { examples } from './examples.ts';
import { fetchVerified } from './fetch-verified.ts';
import { chooseGateway, requestFailure } from './gateway-options.ts';
import { forgetGateway, type PinnedGateway, pinGateway, readPinnedGateway } from './pinned-gateway.ts';

/** Declares `slotgate use`, by which the commands that read a gateway know which, and what key to trust. */
export function declareUse(use: Command): void {
  use
    .addArgument(new Argument('[url]', 'the gateway; without it, the present one is printed'))
    .option('--forget', 'read the gateway of this machine again')
    .addHelpText('after', examples('slotgate use https://GATEWAY', 'slotgate use', 'slotgate use --forget'))
    .action(async (url: string | undefined, { forget }: { readonly forget?: true }, command: Command) => {
      if (forget !== undefined) {
        const removed = forgetGateway(process.env);
        process.stderr.write(removed === undefined ? 'no gateway was pinned\n' : `removed ${removed}\n`);
        return;
      }
      const pinned = readPinnedGateway(process.env);
      if (url === undefined && pinned === undefined)
        throw new StartError(1, 'no gateway is pinned: slotgate use URL pins one');
      const shown = url === undefined ? pinned : await pinAt(url, command);
      if (shown !== undefined) process.stdout.write(describe(shown));
    });
}

/** Pins the key that signs now: that of a gateway which is pinned already, or one that it has signed for. */
async function pinAt(named: string, command: Command): Promise<PinnedGateway> {
  const chosen = await chooseGateway({ url: named }, command, '<url>');
  const { url } = chosen;
  try {
    const { proof } = await fetchVerified('/slot', `${API_PREFIX}/slot`, chosen, {});
    if (proof === undefined) throw new Error('/slot has a receipt');
    const gateway = { url, publicKey: proof.publicKey, cluster: proof.receipt.cluster };
    process.stderr.write(`pinned in ${pinGateway(process.env, gateway)}\n`);
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
  return rows.map(([label = '', value = '']) => `${label.padEnd(8)} ${visibleText(value)}\n`).join('');
}
