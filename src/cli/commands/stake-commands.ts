import type { Command } from 'commander';
import { isStrongSignature } from '../../client/verify/index.ts';
import type { ConfigFlags } from '../../config/config-sources.ts';
import { findStakeProofFault, stakeText } from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { isAddress } from '../../transactions/index.ts';
import { configOf, SETTINGS_HELP } from './config-of.ts';
import { asGroup } from './did-you-mean.ts';
import { examples } from './examples.ts';

interface TextOptions {
  readonly wallet: string;
  readonly issued?: string;
}

interface CheckOptions extends TextOptions {
  readonly issued: string;
  readonly signature: string;
}

export function declareStake(stake: Command): void {
  asGroup(stake.addHelpText('afterAll', SETTINGS_HELP));
  const WALLET = ['--wallet <address>', 'the wallet'] as const;

  stake
    .command('text')
    .description(
      'print the text for the wallet to sign as a message, for the gateway that --host names; valid for a day',
    )
    .requiredOption(...WALLET)
    .option('--issued <seconds>', 'the Unix time of issue', 'now')
    .addHelpText('after', examples('slotgate stake text --host gateway.example --wallet ADDRESS > text'))
    .action(({ wallet, issued = 'now' }: TextOptions, command: Command) => {
      if (!isAddress(wallet)) throw new StartError(64, `${wallet} is not an address`);
      if (!/^(now|[1-9]\d{0,11})$/.test(issued)) throw new StartError(64, `${issued} is not a time in Unix seconds`);
      const seconds = issued === 'now' ? String(Math.floor(systemClock.now() / 1000)) : issued;
      const text = stakeText(gatewayHostOf(command), wallet, seconds);
      process.stderr.write(`X-Stake-Wallet: ${wallet}\nX-Stake-Issued: ${seconds}\n`);
      process.stdout.write(text); // no line end, which would be signed too
    });

  stake
    .command('check')
    .description('check whether a gateway accepts a signature now')
    .requiredOption(...WALLET)
    .requiredOption('--issued <seconds>', 'the Unix time in the text')
    .requiredOption('--signature <base58>', "the wallet's signature of the text")
    .addHelpText(
      'after',
      examples(
        'slotgate stake check --host gateway.example --wallet ADDRESS --issued 1700000000 --signature SIGNATURE',
      ),
    )
    .action((proof: CheckOptions, command: Command) => {
      const fault = findStakeProofFault(proof, gatewayHostOf(command), systemClock.now(), isStrongSignature);
      if (fault !== undefined) throw new StartError(1, `the stake proof is not valid: ${fault}`);
      process.stdout.write('the stake proof is valid\n');
    });
}

/** Returns the host of the gateway to prove it to, which is seldom the one configured here: so the flag wins. */
function gatewayHostOf(command: Command): string {
  const host = command.optsWithGlobals<ConfigFlags>().host ?? configOf(command).stake.host;
  if (host === null) throw new StartError(64, 'name the gateway, by --host or the setting stake.host');
  return host;
}
