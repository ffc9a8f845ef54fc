import { styleText } from 'node:util';
import { CLUSTER_NAMES } from '../shared/domain/cluster-names.ts';
import type { RunningGateway } from './run-process.ts';
import { shortKey, terminalText } from './terminal/terminal-text.ts';

export interface BannerFacts {
  readonly version: string;
  /** The duration of the start, in milliseconds. */
  readonly startMs: number;
  /** The paths of the pages for people. */
  readonly pages: readonly string[];
}

type Cell = readonly [label: string, value: string];

/** Formats what a person wants to know when a gateway listens: where, of which cluster, with which nodes and key. */
export function formatBanner(gateway: RunningGateway, { version, startMs, pages }: BannerFacts): string {
  const { url, cluster, embedded, admin, publicKey, receiptKeyPath, receiptMode, nodes } = gateway;
  const name = cluster === null ? 'no node reached yet' : `${CLUSTER_NAMES[cluster] ?? 'cluster'} ${shortKey(cluster)}`;
  const nodeTexts = nodes().map(({ id, status, behindSlots }) =>
    status === 'behind' ? `${id} ${behindSlots ?? '?'} behind` : `${id} ${status}`,
  );
  const key = [shortKey(publicKey), receiptKeyPath ?? 'inline', receiptMode];
  const rows: readonly (readonly Cell[])[] = [
    [['API', `${url}/api/v1`], ...(pages.length === 0 ? [] : [['Pages', pages.join(' ')] as const])],
    [...(admin == null ? [] : [['Admin', `${admin}/metrics`] as const]), ['Nodes', nodeTexts.join(', ')]],
    [['Key', key.join(', ')]],
    ...(embedded === null
      ? []
      : [[['Cluster', `${embedded.rpc}  embedded: airdrops and transactions go there`] as const]]),
  ];
  const width = Math.max(0, ...rows.flatMap(([first, second]) => (first && second ? first[1].length : [])));
  const lines = rows.map((cells) =>
    cells.map(([label, value], at) => formatCell(label, value, at < cells.length - 1 ? width : 0)).join('   '),
  );
  const ready = `ready in ${(startMs / 1000).toFixed(1)} s`;
  return `${styleText('bold', 'slotgate')} ${version}   ${name}   ${styleText('green', ready)}\n${lines.join('\n')}\n\n`;
}

const formatCell = (label: string, value: string, width: number): string =>
  `${styleText('dim', label.padEnd(7))} ${terminalText(value).padEnd(width)}`;
