import process from 'node:process';
import { StartError } from '../../shared/domain/start-error.ts';
import { type Engine, type EngineName, MAX_HEAD_BYTES } from './engine/engine.ts';
import { nodeEngine } from './engine/node/node-engine.ts';
import { createUwsEngine, type UwsModule } from './engine/uws/uws-engine.ts';

export type EngineSetting = EngineName | 'auto';

/** A package with binaries of uWebSockets.js. */
interface EnginePackage {
  readonly version: string;
  /** The time after which it has closed a connection without a request, in seconds. */
  readonly idleSeconds: number;
  /** The Nodes that it has binaries for, by ABI (`process.versions.modules`). */
  readonly nodes: ReadonlyMap<string, string>;
  /** The oldest glibc that its binaries for Linux load with. */
  readonly glibc: string;
  load(): Promise<UwsModule>;
}

// `auto` loads the first of them that loads, and `node` where none does.
const PACKAGES: Readonly<Record<Exclude<EngineName, 'node'>, EnginePackage>> = {
  uws: {
    version: '20.57.0',
    idleSeconds: 32,
    nodes: new Map([
      ['115', '20'],
      ['127', '22'],
      ['137', '24'],
      ['141', '25'],
    ]),
    glibc: '2.38',
    load: () => import('uWebSockets.js'),
  },
  'uws-pack': {
    version: '20.0.8',
    idleSeconds: 11,
    nodes: new Map([
      ['115', '20'],
      ['120', '21'],
      ['127', '22'],
    ]),
    glibc: '2.27',
    load: () => import('uws-pack') as Promise<unknown> as Promise<UwsModule>, // an older release of the same module
  },
};

/** What decides which binaries load. */
export interface Machine {
  readonly node: string;
  readonly abi: string;
  readonly platform: string;
  readonly arch: string;
  /** Undefined on other systems than Linux, and on Linux with another C library. */
  readonly glibc: string | undefined;
}

/** The systems that both packages have binaries for. */
const TARGETS: ReadonlySet<string> = new Set(['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64']);

export interface LoadedEngine {
  readonly engine: Engine;
  /** Why each engine before it does not load here. */
  readonly skipped: readonly string[];
  /** What this engine does worse than the first, and the remedy; undefined for the first. */
  readonly drawback: string | undefined;
}

/**
 * Loads the HTTP engine of a setting. Rejects with a StartError (78) if the setting names one that does not load here, and where
 * the one that loads can't share its port as workers do.
 */
export async function loadEngine(
  setting: EngineSetting,
  sharesPort = false,
  machine = thisMachine(),
): Promise<LoadedEngine> {
  const names: readonly EngineName[] = setting === 'auto' ? ['uws', 'uws-pack', 'node'] : [setting];
  const skipped: string[] = [];
  for (const name of names) {
    if (name === 'node') {
      const fix = 'use that, or set workers.count to 0';
      if (sharesPort && !canSharePort(machine.node))
        throw new StartError(78, `workers share a port over node:http from Node 22.12 on: ${fix}`);
      return { engine: nodeEngine, skipped, drawback: setting === 'auto' ? SLOWER : undefined };
    }
    const reason = whyNotLoadable(name, machine) ?? (await tryToLoad(name));
    if (typeof reason !== 'string') {
      return { engine: reason, skipped, drawback: name === 'uws-pack' ? CUT_REQUESTS : undefined };
    }
    skipped.push(`${name}: ${reason}`);
  }
  throw new StartError(78, `http.engine is ${setting}, which does not load here: ${skipped.join('; ')}`);
}

const CUT_REQUESTS =
  'it answers 505 to a valid request whose first line TCP cuts at a wrong byte; use a system with glibc 2.38 or newer ' +
  '(Debian 13, Ubuntu 24.04), the container image, or a proxy on this host';

const SLOWER =
  'no binary of uWebSockets.js loads here, and node:http answers about a third as many requests a second; use Node 20, ' +
  '22, 24 or 25 on Linux with glibc 2.38 or newer, or on macOS, or the container image';

/** Returns why the binaries of a package can't load on a machine; undefined if one of them should. */
export function whyNotLoadable(name: Exclude<EngineName, 'node'>, machine: Machine): string | undefined {
  const { nodes, glibc } = PACKAGES[name];
  const { node, abi, platform, arch } = machine;
  if (!TARGETS.has(`${platform} ${arch}`)) return `it has no binary for ${platform} ${arch}`;
  if (!nodes.has(abi)) return `it has binaries for Node ${[...nodes.values()].join(', ')}, and this is ${node}`;
  if (platform !== 'linux') return undefined;
  if (machine.glibc === undefined) return 'its binaries for Linux need glibc, and this system has another C library';
  if (isOlder(machine.glibc, glibc)) return `it needs glibc ${glibc}, and this system has ${machine.glibc}`;
  return undefined;
}

async function tryToLoad(name: Exclude<EngineName, 'node'>): Promise<Engine | string> {
  const { load, version, idleSeconds } = PACKAGES[name];
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(MAX_HEAD_BYTES); // the engine reads it once, and its default of 4096 refuses legal requests
  try {
    return createUwsEngine({ name, version, idleSeconds }, await load());
  } catch (thrown) {
    return String(thrown).split('\n').at(-1) ?? ''; // the last line names the cause
  }
}

/** `reusePort` exists from Node 22.12 and 23.1 on. */
const canSharePort = (node: string): boolean => !isOlder(node, '22.12') && !node.startsWith('23.0.');

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split('.').map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

let machine: Machine | undefined;

function thisMachine(): Machine {
  const { versions, platform, arch } = process;
  machine ??= { node: versions.node, abi: versions.modules, platform, arch, glibc: glibcVersion() };
  return machine;
}

function glibcVersion(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  Object.assign(process.report, { excludeNetwork: true }); // else the report looks up host names
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // else it reads the source maps of its own stack
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  Error.stackTraceLimit = stackTraceLimit;
  return header.glibcVersionRuntime;
}
