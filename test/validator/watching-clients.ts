import { setMaxListeners } from 'node:events';
import { createRequire } from 'node:module';
import {
  type Address,
  address,
  createSolanaRpcSubscriptions,
  type Signature,
  signature as signatureOf,
} from '@solana/web3.js';
import type { Recording } from './pubsub-recording.ts';

interface WatchedAddresses {
  readonly accounts: readonly string[];
  /** The address whose transactions are watched. */
  readonly mentioned: string;
}

/** Where a client connects. */
export interface Endpoint {
  readonly http: string;
  readonly ws: string;
}

/** A client that records what it is notified of. */
export interface WatchingClient {
  watchSignature(signature: string): Promise<void>;
  end(): Promise<void>;
}

type StartClient = (endpoint: Endpoint, watched: WatchedAddresses, recording: Recording) => Promise<WatchingClient>;

const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;
/** What is processed is not notified alike: a fork may take it back. */
const SETTLED = ['confirmed', 'finalized'] as const;

const watchByKit: StartClient = async ({ ws }, { accounts, mentioned }, recording) => {
  const rpcSubscriptions = createSolanaRpcSubscriptions(ws as Parameters<typeof createSolanaRpcSubscriptions>[0]);
  const end = new AbortController();
  setMaxListeners(0, end.signal); // one for each subscription
  const options = { abortSignal: end.signal };
  const record = async <T>(subscribed: Promise<AsyncIterable<T>>, onNotified: (notified: T) => void): Promise<void> => {
    const notifications = await subscribed;
    void (async () => {
      for await (const notified of notifications) onNotified(notified);
    })().catch((thrown: unknown) => recording.add('failure', 0, String(thrown)));
  };
  const watchAccount = (account: Address, commitment: (typeof SETTLED)[number]): Promise<void> =>
    record(
      rpcSubscriptions.accountNotifications(account, { commitment, encoding: 'base64' }).subscribe(options),
      ({ context, value }) => recording.add(`account ${account} ${commitment}`, context.slot, value),
    );
  for (const commitment of SETTLED) {
    for (const account of accounts) await watchAccount(address(account), commitment);
    await record(
      rpcSubscriptions.logsNotifications({ mentions: [address(mentioned)] }, { commitment }).subscribe(options),
      ({ context, value }) => recording.add(`logs ${commitment}`, context.slot, value),
    );
  }
  await record(rpcSubscriptions.slotNotifications().subscribe(options), ({ slot }) =>
    recording.add('slot', slot, slot),
  );
  await record(rpcSubscriptions.rootNotifications().subscribe(options), (root) => recording.add('root', root, root));
  return {
    async watchSignature(text) {
      const signature: Signature = signatureOf(text);
      for (const commitment of COMMITMENTS)
        await record(
          rpcSubscriptions.signatureNotifications(signature, { commitment }).subscribe(options),
          ({ context, value }) => recording.add(`signature ${signature} ${commitment}`, context.slot, value),
        );
    },
    end: async () => end.abort(),
  };
};

interface Context {
  readonly slot: number;
}

const watchByWeb3js: StartClient = async ({ http, ws }, { accounts, mentioned }, recording) => {
  const { Connection, PublicKey } = createRequire(import.meta.url)(process.env['WEB3JS'] ?? '');
  const connection = new Connection(http, { wsEndpoint: ws });
  /** What ends each subscription: web3.js connects again for those that are left. */
  const ends: (() => Promise<void>)[] = [];
  const record = (subject: string) => (value: unknown, context: Context) => recording.add(subject, context.slot, value);
  const watchAccount = (account: string, commitment: string): void => {
    const key = new PublicKey(account);
    const id = connection.onAccountChange(key, record(`account ${account} ${commitment}`), commitment);
    ends.push(() => connection.removeAccountChangeListener(id));
  };
  for (const commitment of SETTLED) {
    for (const account of accounts) watchAccount(account, commitment);
    const id = connection.onLogs(new PublicKey(mentioned), record(`logs ${commitment}`), commitment);
    ends.push(() => connection.removeOnLogsListener(id));
  }
  const slots = connection.onSlotChange(({ slot }: Context) => recording.add('slot', slot, slot));
  const roots = connection.onRootChange((root: number) => recording.add('root', root, root));
  ends.push(
    () => connection.removeSlotChangeListener(slots),
    () => connection.removeRootChangeListener(roots),
  );
  return {
    async watchSignature(signature) {
      for (const commitment of COMMITMENTS) {
        const id = connection.onSignature(signature, record(`signature ${signature} ${commitment}`), commitment);
        ends.push(() => connection.removeSignatureListener(id));
      }
    },
    async end() {
      for (const end of ends) await end();
      connection._rpcWebSocket.close(); // one that is lost later is opened again for ever, and the test never ends
    },
  };
};

/** The clients of most of Solana's programs. $WEB3JS names the folder of the latter. */
export const CLIENTS: Readonly<Record<string, StartClient>> = { kit: watchByKit, 'web3.js': watchByWeb3js };
