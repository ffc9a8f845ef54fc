import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { readDeclarations } from '../../src/gateway/admin/metric.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { findFreePort } from '../../src/shared/runtime/require-free-port.ts';
import { startGateway, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

const run = promisify(execFile);

const pathOf = (name: string): string => fileURLToPath(new URL(`../../../config/monitoring/${name}`, import.meta.url));
const textOf = (name: string): string => readFileSync(pathOf(name), 'utf8');

/** A query of the dashboard or of an alert. */
interface Query {
  readonly where: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly state: string;
}

/** What Prometheus answers: `result` to a query, `groups` to a request for the rules. */
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly { readonly value: readonly [time: number, value: string] }[];
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  };
}

const dashboard: { readonly panels: readonly Panel[]; readonly templating: { list: { name: string }[] } } = JSON.parse(
  textOf('dashboard.json'),
);
const { panels } = dashboard;
const panelQueries: readonly Query[] = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ where: title, expr })),
);

/** The queries whose answer is empty while all is well, or no node has a feed. */
const EMPTY_WHEN_WELL = [
  'Errors by code',
  'Nodes that gave another value',
  'Slot of the last contradiction',
  'Geyser feeds, behind',
  'Geyser feeds, accounts',
  'Geyser feeds, faults',
  'Versions of accounts',
];

/** Replaces Grafana's variables, as it does before a query. */
const resolved = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '10s').replaceAll(/\$(job|instance)\b/g, '.+');

/** Returns the names of metrics in a query; the parts of a histogram count as that. */
const namesIn = (expr: string): readonly string[] => {
  const withoutLabels = expr.replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)|\{[^}]*\}|"[^"]*"/g, '');
  const names = withoutLabels.match(/\b[a-z_][a-z0-9_:]*\b(?!\s*\()/g) ?? [];
  return names.filter((name) => !/^(and|or|unless|by|without|bool|offset|\d.*)$/.test(name));
};

const known = new Set([
  'up',
  ...readDeclarations().flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
]);

t.test('promtool finds no fault in rules and settings; each alert fires and is silent as it should', async (t) => {
  for (const args of [
    ['check', 'rules', pathOf('alerts.yml')],
    ['check', 'config', pathOf('prometheus.yml')],
    ['test', 'rules', pathOf('alerts.test.yml')],
  ])
    await t.resolves(run('promtool', args), args.join(' '));
  const alerts = [...textOf('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  t.ok(alerts.every((name) => name?.startsWith('Slotgate')));
  const tests = textOf('alerts.test.yml');
  t.same(
    alerts.filter((name) => !tests.includes(`name: ${name} fires`) || !tests.includes(`name: ${name} is silent`)),
    [],
    'each has a test of both',
  );
});

t.test('the dashboard queries any data source, of the jobs and instances that are chosen', async (t) => {
  const variables = dashboard.templating.list.map(({ name }) => name);
  t.same(variables, ['datasource', 'job', 'instance']);
  t.notOk('uid' in dashboard, 'an import makes a new one');
  const sources = new Set(panels.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource.uid)));
  t.same([...sources], [`$${'{datasource}'}`]);
  const unfiltered = panelQueries.filter(({ expr }) => !expr.includes('job=~"$job",instance=~"$instance"'));
  t.same(unfiltered, []);
});

t.test('Prometheus scrapes a gateway under load, and answers each query of dashboard and alerts', async (t) => {
  const { gateway, get, rpc } = await startGateway(t, [], { set: ['admin.port=0', 'embedded.slotMs=100'] });
  const folder = t.testdir();
  const port = await findFreePort('127.0.0.1');
  const target = (gateway.admin ?? '').replace('http://', '');
  const config = textOf('prometheus.yml').replace('127.0.0.1:8789', target).replaceAll('15s', '500ms');
  writeFileSync(`${folder}/prometheus.yml`, config.replace('alerts.yml', pathOf('alerts.yml')));
  const prometheus = spawn('prometheus', [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]);
  t.teardown(async () => {
    prometheus.kill('SIGKILL');
    await once(prometheus, 'exit');
  });
  let log = '';
  prometheus.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const api = async (path: string): Promise<Answer> =>
    (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json() as Promise<Answer>;
  const query = (expr: string): Promise<Answer> => api(`query?query=${encodeURIComponent(expr)}`);

  const listener = await WebSocketPeer.open(gateway.url);
  t.teardown(() => listener.connection.reset());
  let isOver = false;
  const load = async (): Promise<void> => {
    for (let i = 0; !isOver; i++) {
      await get('/slot');
      await get(`/balance/${WALLETS[i % WALLETS.length]?.address}`);
      if (i % 10 === 0) await rpc({ method: 'getLatestBlockhash' });
    }
  };
  const loads = [load(), load()];
  await waitFor(async () => {
    const scrapes = await query('count_over_time(up{job="slotgate"}[1m])').catch(() => undefined);
    return Number(scrapes?.data?.result[0]?.value[1] ?? 0) >= 12;
  }, `Prometheus with a dozen scrapes (${log})`);

  const up = await query('up{job="slotgate"}');
  const values = up.data.result.map(({ value }) => value[1]);
  t.same(values, ['1']);
  const slowest = await query('max_over_time(scrape_duration_seconds{job="slotgate"}[1m])');
  t.comment(`slowest scrape under load: ${slowest.data.result[0]?.value[1]} s`);

  const rules = (await api('rules')).data.groups.flatMap(({ rules }) => rules);
  const alertQueries: Query[] = rules.map(({ name, query: expr }) => ({ where: name, expr }));
  t.equal(alertQueries.length, 16);
  const broken = rules.filter(({ health }) => health === 'err');
  t.same(broken, [], 'each rule can be evaluated');
  t.same(
    pluck(
      rules.filter(({ state }) => state === 'firing'),
      'name',
    ),
    [],
    'none fires',
  );

  const refused: unknown[] = [];
  const empty: string[] = [];
  for (const { where, expr } of [...panelQueries, ...alertQueries]) {
    const { status, error, data } = await query(resolved(expr));
    if (status !== 'success') refused.push([where, expr, error]);
    else if (data.result.length === 0) empty.push(where);
  }
  isOver = true;
  await Promise.all(loads);
  t.same(refused, [], 'each query is valid');
  const alertNames = new Set(alertQueries.map(({ where }) => where));
  const unshown = empty.filter((where) => !alertNames.has(where) && !EMPTY_WHEN_WELL.includes(where));
  t.same(unshown, [], 'each panel shows something');

  const used = new Map(
    [...panelQueries, ...alertQueries].map(({ where, expr }) => [`${where}: ${expr}`, namesIn(resolved(expr))]),
  );
  t.same(
    [...used].filter(([, names]) => names.length === 0 || names.some((name) => !known.has(name))),
    [],
    'each query names only metrics that exist',
  );
  const all = new Set([...used.values()].flat());
  const unused = readDeclarations().filter(
    ({ name }) => !['', '_bucket', '_sum', '_count'].some((part) => all.has(name + part)),
  );
  t.same(unused, [], 'each metric is used');

  const scraped = await (await fetch(`${gateway.admin}/metrics`)).text();
  const check = spawn('promtool', ['check', 'metrics']);
  let faults = '';
  check.stderr.on('data', (chunk) => {
    faults += chunk;
  });
  check.stdin.end(scraped);
  const [code] = await once(check, 'exit');
  t.same([code, faults], [0, '']);
});
