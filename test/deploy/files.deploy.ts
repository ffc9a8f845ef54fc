import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import type { Config } from '../../src/config/config-schema.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { PATIENT_ARGS, runModule, waitUntilListening } from '../support/child-process.ts';
import { childrenOf } from '../support/gateway-with-workers.ts';
import { waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { runSlotgate } from '../support/run-slotgate.ts';

const run = promisify(execFile);

/** What the tests read of a service of the compose file. */
interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly networks: { readonly inside: { readonly ipv4_address: string } };
  readonly volumes: readonly [string, string];
  readonly stop_grace_period: string;
  readonly read_only: boolean;
  readonly build: { readonly dockerfile: string };
  readonly ports: readonly string[];
}

interface ComposeFile {
  readonly services: { readonly gateway1: Service; readonly gateway2: Service; readonly haproxy: Service };
  readonly volumes: object;
  readonly networks: { readonly inside: { readonly ipam: { readonly config: unknown } } };
}

/** What the tests read of a container of the Kubernetes manifest. */
interface Container {
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { secretKeyRef: object };
  }[];
  readonly ports: unknown;
  readonly readinessProbe: {
    readonly httpGet: unknown;
    readonly periodSeconds: number;
    readonly failureThreshold: number;
  };
  readonly livenessProbe: { readonly httpGet: unknown };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: { readonly capabilities: unknown };
}

interface Deployment {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: {
    readonly selector: { readonly matchLabels: unknown };
    readonly template: {
      readonly metadata: { readonly labels: unknown };
      readonly spec: {
        readonly containers: readonly [Container, ...Container[]];
        readonly terminationGracePeriodSeconds: number;
        readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly medium?: string } }[];
        readonly securityContext: object;
      };
    };
  };
}

interface KubernetesService {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: { readonly selector: unknown; readonly ports: readonly { readonly targetPort: string }[] };
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const textOf = (name: string): string => readFileSync(`${root}config/deploy/${name}`, 'utf8');
/** Reads the documents of a YAML file, of the types that the caller expects. */
const readYaml = <T extends readonly unknown[]>(text: string): T =>
  parseAllDocuments(text).map((document) => {
    for (const error of [...document.errors, ...document.warnings]) throw error;
    return document.toJS();
  }) as readonly unknown[] as T;
const composeFile = (): ComposeFile => readYaml<[ComposeFile]>(textOf('compose.yaml'))[0];

/** Returns the seconds of a value such as `30s`. */
const secondsOf = (text: string): number => Number(/^(\d+)s?$/.exec(text)?.[1]);

/** Returns the seconds that a gateway takes to end, at most; its process ends a second after both times. */
const secondsToEnd = ({ drainDelayMs, drainTimeoutMs }: Config): number => (drainDelayMs + drainTimeoutMs) / 1000 + 1;

/** The settings that variables make; a variable that is none is refused. */
const configOf = (env: Readonly<Record<string, string>>): Config => loadConfig({ cwd: '/', env });

/** Instructions of the Dockerfile, each with its arguments in one line. */
const instructions = textOf('Dockerfile')
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .flatMap((line) => {
    const [, name, args] = /^([A-Z]+) (.+)$/.exec(line.trim()) ?? [];
    return name === undefined || args === undefined ? [] : [{ name, args }];
  });
const argsOf = (wanted: string): readonly string[] =>
  instructions.filter(({ name }) => name === wanted).map(({ args }) => args);

const imageEnv = Object.fromEntries(
  argsOf('ENV').flatMap((args) => args.split(' ').map((pair) => pair.split('=') as [string, string])),
);

const NODES = { SLOTGATE_UPSTREAMS: 'http://127.0.0.1:8899' };

t.test('the image runs without rights, and says where it listens and writes', async (t) => {
  const config = configOf(imageEnv);
  t.same(argsOf('USER'), ['node']);
  const images = argsOf('FROM').map((args) => args.split(' ')[0]);
  t.same(images, Array(3).fill('node:24-trixie-slim'));
  t.same(argsOf('EXPOSE'), [`${config.port} ${config.port + 1} ${config.admin.port}`]);
  t.same(argsOf('VOLUME'), [config.dataDir]);
  t.match([config.host, config.admin.host], ['0.0.0.0', '0.0.0.0']);
  t.ok(argsOf('HEALTHCHECK')[0]?.includes(`http://127.0.0.1:${config.admin.port}/livez'`));
  t.same(
    ['config/deploy/Dockerfile', 'package-lock.json', '.npmrc', '.ci/build.mjs', 'src/main.ts', 'test/unit'].filter(
      (path) =>
        textOf('Dockerfile.dockerignore')
          .split('\n')
          .includes(path.split('/')[0] ?? ''),
    ),
    [],
    'what it builds from is sent to it',
  );
});

/** Makes the folder of a stage: its COPY and RUN instructions, in their order, in place of docker. */
async function makeStage(stage: string, folder: string, folderOf: Readonly<Record<string, string>>): Promise<void> {
  const from = instructions.findIndex(({ name, args }) => name === 'FROM' && args.endsWith(stage));
  const to = instructions.findIndex(({ name }, index) => name === 'FROM' && index > from);
  for (const { name, args } of instructions.slice(from, to === -1 ? undefined : to)) {
    const [, other = '', sources = '', target = ''] = /^(?:--from=(\w+) )?(.+) (\S+)$/.exec(args) ?? [];
    const copy = `mkdir -p '${folder}/${target}'
      for path in ${sources.replaceAll('/app/', '')}; do
        if [ -d "$path" ]; then path="$path/."; fi
        cp -r "$path" '${folder}/${target}'
      done`;
    const env = { ...process.env, npm_config_prefer_offline: 'true' };
    if (name === 'COPY') await run('sh', ['-ec', copy], { cwd: folderOf[other] });
    if (name === 'RUN' && !args.startsWith('install ')) await run('sh', ['-ec', args], { cwd: folder, env });
  }
}

t.test('the image holds all that a gateway reads, and its health check works', async (t) => {
  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);
  const folder = mkdtempSync(join(tmpdir(), 'slotgate-image-')); // a folder of this project would find its packages
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['app', 'modules', 'state']) mkdirSync(join(folder, name));
  const app = `${folder}/app`;
  const folderOf = { '': root, build: root, modules: `${folder}/modules` };
  await makeStage(' AS modules', folderOf.modules, folderOf);
  await makeStage('-slim', app, folderOf);
  const engines = readdirSync(`${app}/node_modules/uWebSockets.js`, { recursive: true }).filter((name) =>
    String(name).endsWith('.node'),
  );
  t.equal(engines.length, 1, 'one build of the engine');
  t.notOk(readdirSync(`${app}/node_modules`).some((name) => name.includes('typescript')));
  await t.resolves(run('node', ['-e', 'import("@redis/client")'], { cwd: app }), 'a fleet needs no further package');

  const child = runModule(new URL(`file://${app}/dist/src/main.js`), [
    ...['--port', '0', '--state', `${folder}/state`, '--upstream', `${cluster.url},${cluster.wsUrl}`],
    ...PATIENT_ARGS,
  ]);
  t.teardown(() => child.process.kill('SIGKILL'));
  const { url, admin } = (await waitUntilListening(child)) as { url: string; admin?: string };
  t.equal((await fetch(`${url}/api/v1/slot`)).status, 200);

  const check = /^.*?CMD (\[.*\])$/.exec(argsOf('HEALTHCHECK')[0] ?? '')?.[1] ?? '[]';
  const [program, ...args] = JSON.parse(check.replace('http://127.0.0.1:8789', admin ?? '')) as string[];
  const status = (): Promise<number> =>
    run(program ?? '', args).then(
      () => 0,
      ({ code }) => code,
    );
  t.equal(await status(), 0, 'healthy while it runs');
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
  t.equal(await status(), 1, 'not when it has ended');
});

const hasDocker = spawnSync('docker', ['info']).status === 0;
t.test('docker builds the image', { skip: !hasDocker && 'no docker daemon answers' }, async (t) => {
  const tag = 'slotgate-test';
  await t.resolves(run('docker', ['build', '-q', '-f', `${root}config/deploy/Dockerfile`, '-t', tag, root]));
  t.teardown(() => run('docker', ['rmi', tag]));
  const { stdout } = await run('docker', [
    ...['run', '--rm', '--read-only', '--tmpfs', '/tmp', tag, 'config', 'check'],
  ]);
  t.ok(stdout.length > 0);
});

t.test('no deployment replaces a lost receipt key: each names the command that creates one', async (t) => {
  const composeEnv = composeFile().services.gateway1.environment;
  const deployments = { Dockerfile: imageEnv, 'compose.yaml': composeEnv, 'slotgate.service': unitEnv };
  for (const [name, env] of Object.entries(deployments)) {
    const state = t.testdir({});
    const start = ['config', 'check', '--state', state];
    const variables = { ...env, SLOTGATE_UPSTREAMS: NODES.SLOTGATE_UPSTREAMS };
    t.match(await runSlotgate(start, variables), { code: 78, err: /no receipt key: create one with/ }, name);
    t.match(textOf(name), /^#.* receipt key create/m, name);
    t.equal((await runSlotgate(['receipt', 'key', 'create', '--state', state], variables)).code, 0, name);
    t.equal((await runSlotgate(start, variables)).code, 0, name);
  }
});

t.test('the Caddyfile has the ports and the check of the other samples', async (t) => {
  const config = configOf({});
  const caddy = textOf('Caddyfile');
  t.match(caddy, new RegExp(`reverse_proxy 127\\.0\\.0\\.1:${config.port} `));
  t.match(caddy, `health_port ${config.admin.port}\n`);
  t.match(caddy, 'health_uri /readyz\n');
});

t.test('the compose file runs gateways that believe its HAProxy', async (t) => {
  const { services, volumes, networks } = composeFile();
  const { gateway1, gateway2, haproxy } = services;
  const config = configOf({ ...imageEnv, ...gateway1.environment, ...NODES });
  t.same(config.trustedProxies, [haproxy.networks.inside.ipv4_address]);
  t.same(networks.inside.ipam.config, [{ subnet: '172.31.87.0/24' }]);
  t.same(gateway1.volumes, [`gateway1:${config.dataDir}`]);
  t.same(gateway2, { extends: { service: 'gateway1' }, volumes: [`gateway2:${config.dataDir}`] });
  t.same(Object.keys(volumes), ['gateway1', 'gateway2']);
  t.ok(secondsOf(gateway1.stop_grace_period) > secondsToEnd(config));
  t.same([gateway1.read_only, haproxy.read_only], [true, true]);
  t.match(gateway1, { tmpfs: ['/tmp'], cap_drop: ['ALL'], networks: ['inside'] });
  t.equal(gateway1.build.dockerfile, 'config/deploy/Dockerfile');
  const balancer = textOf('haproxy.cfg');
  t.ok(haproxy.volumes[0].startsWith('./haproxy.cfg:'));
  t.same(
    haproxy.ports,
    [...balancer.matchAll(/bind :(\d+)/g)].map(([, port]) => `${port}:${port}`),
  );
  t.ok(haproxy.volumes[1].endsWith(`:${/ crt (\S+)/.exec(balancer)?.[1]}:ro`));
  t.equal(gateway1.environment['NODE_ENV'], 'production', 'a lost receipt key is not replaced');
  const servers = [...balancer.matchAll(/^ {2}server (\w+) (\S+)$/gm)].map(([, name, address]) => [name, address]);
  t.same(
    servers,
    ['gateway1', 'gateway2'].map((name) => [name, `${name}:${config.port}`]),
  );
  t.match(balancer, new RegExp(`check port ${config.admin.port} `));
});

t.test('the Kubernetes manifest names what the gateway has', async (t) => {
  const [deployment, service, ...others] = readYaml<[Deployment, KubernetesService]>(textOf('kubernetes.yaml'));
  t.same(others, []);
  t.same(
    [deployment.kind, deployment.apiVersion, service.kind, service.apiVersion],
    [...['Deployment', 'apps/v1'], ...['Service', 'v1']],
  );
  const { labels } = deployment.spec.template.metadata;
  t.same([deployment.spec.selector.matchLabels, service.spec.selector], [labels, labels]);
  const pod = deployment.spec.template.spec;
  const [container, ...moreContainers] = pod.containers;
  t.same(moreContainers, []);

  const given = container.env.filter(({ value }) => value !== undefined);
  const values = Object.fromEntries(given.map(({ name, value }) => [name, value]));
  const config = configOf({ ...imageEnv, ...values, ...NODES });
  const secrets = container.env.filter(({ valueFrom }) => valueFrom !== undefined);
  t.same(
    secrets.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef]),
    [
      ['SLOTGATE_UPSTREAMS', { name: 'slotgate', key: 'upstreams' }],
      ['RECEIPT_KEY', { name: 'slotgate', key: 'receipt-key' }],
    ],
  );
  t.same(container.ports, [
    { name: 'http', containerPort: config.port },
    { name: 'admin', containerPort: config.admin.port },
  ]);
  t.equal(service.spec.ports[0]?.targetPort, 'http');
  t.same(container.readinessProbe.httpGet, { path: '/readyz', port: 'admin' });
  t.same(container.livenessProbe.httpGet, { path: '/livez', port: 'admin' });
  t.ok(pod.terminationGracePeriodSeconds >= secondsToEnd(config) + 4);
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  t.ok(config.drainDelayMs / 1000 > periodSeconds * failureThreshold, 'it is unready before its port closes');
  t.same(pluck(container.volumeMounts, 'mountPath'), [config.dataDir, '/tmp', '/dev/shm']);
  t.same(
    pluck(container.volumeMounts, 'name'),
    pod.volumes.map(({ name }) => name),
  );
  t.equal(pod.volumes[2]?.emptyDir?.medium, 'Memory');
  t.match(pod.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  t.match(container.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
  t.same(container.securityContext.capabilities, { drop: ['ALL'] });
});

t.test('systemd finds no fault in the unit, and little that it exposes', async (t) => {
  const folder = t.testdir({ slotgate: '#!/bin/sh\n' });
  chmodSync(`${folder}/slotgate`, 0o755);
  const unit = `${folder}/slotgate.service`;
  writeFileSync(unit, textOf('slotgate.service').replaceAll('/usr/bin/slotgate', `${folder}/slotgate`));
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
  t.notMatch(stdout + stderr, /slotgate/);
  await t.resolves(run('systemd-analyze', ['security', '--offline=yes', '--threshold=20', unit]));
});

const unit = textOf('slotgate.service');
const unitEnv = Object.fromEntries([...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, ...pair]) => pair));

t.test('the command of the unit starts, and its reload replaces the processes', async (t) => {
  const directive = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  t.ok(Number(directive('TimeoutStopSec')) > secondsToEnd(configOf(unitEnv)));
  t.equal(directive('RestartPreventExitStatus'), '64 78');

  const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
  t.teardown(cluster.close);
  const folder = t.testdir({ state: {}, 'slotgate.json': JSON.stringify({ port: 0, drainTimeoutMs: 200 }) });
  const [program, ...args] = directive('ExecStart').split(' ');
  t.equal(program, '/usr/bin/slotgate');
  const placed = args.map((arg) =>
    arg.replace('/etc/slotgate.json', `${folder}/slotgate.json`).replace('/var/lib/slotgate', `${folder}/state`),
  );
  t.equal((await runSlotgate(['receipt', 'key', 'create', '--state', `${folder}/state`], unitEnv)).code, 0);
  const child = runModule(
    new URL('../../src/main.js', import.meta.url),
    [...placed, '--upstream', `${cluster.url},${cluster.wsUrl}`, ...PATIENT_ARGS],
    unitEnv,
  );
  t.teardown(() => child.process.kill('SIGKILL'));
  const { url } = await waitUntilListening(child);
  const before = childrenOf(child.process.pid ?? 0);
  await run('sh', ['-c', directive('ExecReload')], { env: { MAINPID: String(child.process.pid) } });
  await child.waitForOutput('all processes were replaced');
  await waitFor(
    () => ![...childrenOf(child.process.pid ?? 0).values()].some((id) => [...before.values()].includes(id)),
  );
  t.equal((await fetch(`${url}/api/v1/slot`)).status, 200);
  child.process.kill('SIGTERM');
  t.equal(await child.exit(), 0);
});
