import { styleText } from 'node:util';
import type { ConfiguredOperators } from '../config/operators.ts';
import { CLUSTER_NAMES } from '../shared/domain/cluster-names.ts';
import { DEMO_ADDRESSES } from '../shared/domain/demo-addresses.ts';
import { visibleText } from '../shared/domain/visible-text.ts';
import { VOTE_PROGRAM } from '../shared/domain/well-known-addresses.ts';
import type { RunningGateway } from './run-process.ts';
import { shortKey } from './terminal/short-key.ts';

export interface BannerFacts {
  readonly version: string;
  /** The duration of the start, in milliseconds. */
  readonly startMs: number;
  /** The paths of the pages for people. */
  readonly pages: readonly string[];
  /** The operators of the nodes; undefined where there is one. */
  readonly operators: ConfiguredOperators | undefined;
}

type Cell = readonly [label: string, value: string];

/** Formats what a person wants to know when a gateway listens: where, of which cluster, with which nodes and key. */
export function formatBanner(gateway: RunningGateway, { version, startMs, pages, operators }: BannerFacts): string {
  const { url, cluster, embedded, admin, publicKey, receiptKeyPath, receiptMode, nodes } = gateway;
  const name = cluster === null ? 'no node reached yet' : `${CLUSTER_NAMES[cluster] ?? 'cluster'} ${shortKey(cluster)}`;
  const nodeTexts = nodes().map(({ id, status, behindSlots }) =>
    status === 'behind' ? `${id} ${behindSlots ?? '?'} behind` : `${id} ${status}`,
  );
  const key = [shortKey(publicKey), receiptKeyPath ?? 'inline', `signs ${receiptMode}`];
  const rows: readonly (readonly Cell[])[] = [
    [['API', `${url}/api/v1`], ...(pages.length === 0 ? [] : [['Pages', pages.join(' ')] as const])],
    [...(admin == null ? [] : [['Admin', `${admin}/metrics`] as const]), ['Nodes', nodeTexts.join(', ')]],
    [['Key', key.join(', ')]],
    [
      embedded === null
        ? ['Trust', describeTrust(operators)]
        : ['Cluster', `${embedded.rpc}  embedded: airdrops and transactions go there`],
    ],
  ];
  const width = Math.max(0, ...rows.flatMap(([first, second]) => (first && second ? first[1].length : [])));
  const lines = rows.map((cells) =>
    cells.map(([label, value], at) => formatCell(label, value, at < cells.length - 1 ? width : 0)).join('   '),
  );
  const ready = `ready in ${(startMs / 1000).toFixed(1)} s`;
  return `${styleText('bold', 'slotgate')} ${version}   ${name}   ${styleText('green', ready)}\n${lines.join('\n')}\n\n${nextSteps(gateway, pages.length > 0)}\n`;
}

/** Names what somebody who has just started a gateway can do with it. */
function nextSteps({ url, embedded }: RunningGateway, hasPages: boolean): string {
  const address = embedded === null ? VOTE_PROGRAM : DEMO_ADDRESSES.alice;
  return [
    'Try',
    `  curl ${url}/api/v1/balance/${address}`,
    `  slotgate get ${address} --url ${url}`,
    `  slotgate watch --url ${url}`,
    ...(hasPages ? [styleText('bold', `Open ${url}`)] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Says how far what is signed depends on the honesty of one operator. */
export const describeTrust = (operators: ConfiguredOperators | undefined): string =>
  operators === undefined
    ? 'one operator: a lie of its nodes would be signed'
    : `${operators.needed} of ${operators.count} operators must give the same before it is exact`;

const formatCell = (label: string, value: string, width: number): string =>
  `${styleText('dim', label.padEnd(7))} ${visibleText(value).padEnd(width)}`;
