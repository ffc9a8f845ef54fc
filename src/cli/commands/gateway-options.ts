import type { Command } from 'commander';
import { type ClientOptions, SlotgateError } from '../../client/index.ts';
import { FAULT_EXPLANATIONS, ReceiptError } from '../../client/verify/index.ts';
import type { Config } from '../../config/config-schema.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { shortKey, terminalText } from '../terminal/terminal-text.ts';
import { genesisHash, publicKey, repeatable } from './receipt-option-values.ts';

export interface GatewayFlags {
  readonly url?: string;
  readonly publicKey?: readonly string[];
  readonly cluster?: string;
}

export const addGatewayOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'the gateway; by default the one of this configuration, on this machine')
    .option('--public-key <base58>', 'the key that must have signed; may be repeated', repeatable(publicKey))
    .option('--cluster <base58>', 'the genesis hash of the cluster that it must be about', genesisHash);

/** Returns the URL of the gateway that the flags, or else the settings, name. */
export function gatewayUrlOf({ url }: GatewayFlags, configOf: () => Config): string {
  if (url === undefined) return localUrlOf(configOf());
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new StartError(64, `--url must be an http:// or https:// URL, got ${terminalText(url)}`);
  return url;
}

function localUrlOf({ host, port }: Config): string {
  if (port === 0) throw new StartError(64, 'port 0 is any free port: name the gateway by --url');
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

export const trustOf = ({ publicKey, cluster }: GatewayFlags): Pick<ClientOptions, 'publicKey' | 'cluster'> => ({
  ...(publicKey !== undefined && { publicKey }),
  ...(cluster !== undefined && { cluster }),
});

/** Describes the key of a receipt, and whether it was pinned or only believed. */
export const describeTrust = (key: string, { publicKey: pinned, cluster }: GatewayFlags): string => {
  const missing = [pinned === undefined && '--public-key', cluster === undefined && '--cluster'].filter(Boolean);
  return `key ${shortKey(key)}${missing.length === 0 ? '' : ` (not pinned: no ${missing.join(', no ')})`}`;
};

/** Turns the failure of a request into a StartError that says what happened. */
export function requestFailure(thrown: unknown, url: string): StartError {
  if (thrown instanceof ReceiptError)
    return new StartError(1, `the answer is not proven: ${thrown.code}. ${FAULT_EXPLANATIONS[thrown.code]}`, thrown);
  if (!(thrown instanceof SlotgateError)) throw thrown;
  const { code, message, status } = thrown;
  if (code === 'network' || code === 'timeout')
    return new StartError(1, `${message}: is one running at ${new URL(url).origin}?`, thrown);
  const help =
    status === null ? '' : `; see ${new URL(`docs/errors#error-${code}`, url.endsWith('/') ? url : `${url}/`)}`;
  return new StartError(1, `${code}: ${terminalText(message)}${code === 'unreadable' ? '' : help}`, thrown);
}
