import type { Command } from 'commander';
import { baseUrlOf, type ClientOptions, SlotgateError } from '../../client/index.ts';
import { FAULT_EXPLANATIONS, ReceiptError } from '../../client/verify/index.ts';
import { PUBLIC_KEY_VARIABLE, URL_VARIABLE } from '../../config/reader-variables.ts';
import { redactUrl } from '../../config/redact-url.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { shortKey } from '../terminal/short-key.ts';
import { readPinnedGateway } from './pinned-gateway.ts';
import { genesisHash, publicKey, repeatable } from './receipt-option-values.ts';

export interface GatewayFlags {
  readonly url?: string;
  readonly publicKey?: readonly string[];
  readonly cluster?: string;
}

/** The gateway to read, and what its receipts must name. */
export interface ChosenGateway extends Pick<ClientOptions, 'cluster'> {
  /** Without the prefix of the API, so that a gateway has one spelling. */
  readonly url: string;
  readonly publicKey?: readonly string[];
}

/** Adds the options of the commands that read a gateway, as a group of their own. */
export const addGatewayOptions = (command: Command): Command =>
  command
    .optionsGroup('Gateway:')
    .option(
      '--url <url>',
      `the gateway; by default ${URL_VARIABLE}, the one of "slotgate use", or the one of this configuration on this machine`,
    )
    .option(
      '--public-key <base58>',
      `the key that must have signed; may be repeated; by default ${PUBLIC_KEY_VARIABLE} or the one of "slotgate use"`,
      repeatable(publicKey),
    )
    .option('--cluster <base58>', 'the genesis hash of the cluster that it must be about', genesisHash);

/** Returns the gateway that the flags name, or else the variables, `slotgate use`, or the settings. */
export async function chooseGateway(flags: GatewayFlags, command: Command, flag = '--url'): Promise<ChosenGateway> {
  const pinned = readPinnedGateway(process.env);
  const named = flags.url ?? (process.env[URL_VARIABLE]?.trim() || undefined);
  const source = flags.url === undefined ? URL_VARIABLE : flag;
  const url = baseUrlOf(named === undefined ? (pinned?.url ?? (await localUrlOf(command))) : checkedUrl(named, source));
  const isPinned = pinned !== undefined && baseUrlOf(pinned.url) === url;
  const keys = flags.publicKey ?? keysInVariable() ?? (isPinned ? [pinned.publicKey] : undefined);
  const cluster = flags.cluster ?? (isPinned ? pinned.cluster : undefined);
  return { url, ...(keys !== undefined && { publicKey: keys }), ...(cluster !== undefined && { cluster }) };
}

function checkedUrl(url: string, source: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new StartError(64, `${source} must be an http:// or https:// URL, got ${redactUrl(url)}`);
  return url;
}

function keysInVariable(): readonly string[] | undefined {
  const text = process.env[PUBLIC_KEY_VARIABLE];
  if (text === undefined || text.trim() === '') return undefined;
  try {
    return text
      .trim()
      .split(/[\s,]+/)
      .map(publicKey);
  } catch (thrown) {
    throw new StartError(64, `${PUBLIC_KEY_VARIABLE}: ${reasonOf(thrown)}`);
  }
}

async function localUrlOf(command: Command): Promise<string> {
  const { configOf } = await import('./config-of.ts'); // its schemas are of no use where a URL is named
  const { host, port } = configOf(command);
  if (port === 0) throw new StartError(64, 'port 0 is any free port: name the gateway by --url');
  if (host.includes('%')) throw new StartError(64, `no URL has ${host}: name the gateway by --url`);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Describes the key of a receipt, and whether it was pinned or only believed. */
export const describeTrust = (key: string, { publicKey: pinned, cluster }: ChosenGateway): string => {
  const missing = [pinned === undefined && '--public-key', cluster === undefined && '--cluster'].filter(Boolean);
  return `key ${shortKey(key)} (${missing.length === 0 ? 'pinned' : `not pinned: no ${missing.join(', no ')}`})`;
};

/** Turns the failure of a request into a StartError that says what happened. */
export function requestFailure(thrown: unknown, url: string): StartError {
  if (thrown instanceof StartError) return thrown;
  if (thrown instanceof ReceiptError) {
    const { code } = thrown;
    const isOfPin = (code === 'cluster' || code === 'unknown-key') && readPinnedGateway(process.env)?.url === url;
    const help = isOfPin ? ' If you expect another, slotgate use --forget forgets the pinned one.' : '';
    return new StartError(1, `the answer is not proven: ${code}. ${FAULT_EXPLANATIONS[code]}${help}`, thrown);
  }
  if (!(thrown instanceof SlotgateError)) throw thrown;
  const { code, message, help, status } = thrown;
  const isOther = code === 'unreadable' && (status ?? 0) >= 400;
  if (isOther || code === 'network' || code === 'timeout')
    return new StartError(1, `${message}: is a gateway running at ${new URL(url).origin}?`, thrown);
  const see = help === null || code === 'unreadable' ? '' : `; see ${help}`;
  return new StartError(1, `${code}: ${message}${see}`, thrown);
}
