import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../domain/start-error.ts';
import { packageFile } from '../runtime/package.ts';
import { assign, isGroup, type Layer } from './layers.ts';
import { ENV_PREFIX, type Option, readText } from './options.ts';
import { unknownName } from './problem.ts';
import { maskUrl } from './upstreams.ts';

/** The options of the command line, as they were typed. */
export interface Flags {
  /** Names a file of the package's own `config/` (`mainnet`), or is the path of another. */
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly state?: string;
  readonly upstream?: readonly string[];
  /** Each `name=value`. */
  readonly set?: readonly string[];
}

/** Reads one of the package's own files: `default`, `mainnet`. */
export function fromPackage(name: string): Layer {
  const names = readdirSync(packageFile('config/')).map((file) => file.replace(/\.json$/, ''));
  if (!names.includes(name)) throw new StartError(78, unknownName('configuration', name, names));
  return fromFile(fileURLToPath(packageFile(`config/${name}.json`)), `config/${name}.json`);
}

/** Reads what `--config` names: one of the package's own files, or the file at a path. */
export const fromOverlay = (nameOrPath: string, cwd: string): Layer =>
  /^[\w-]+$/.test(nameOrPath) ? fromPackage(nameOrPath) : fromFile(resolve(cwd, nameOrPath), nameOrPath);

function fromFile(path: string, source: string): Layer {
  let values: unknown;
  try {
    values = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    // V8 quotes the text around a syntax error, and a key in a URL may stand there
    throw new StartError(
      78,
      `can't read ${source}: ${reason.replace(/, [."].*(?= is not valid JSON)/s, ', it')}`,
      cause,
    );
  }
  if (!isGroup(values)) throw new StartError(78, `can't read ${source}: expected an object of settings`);
  return { source, values };
}

/** Reads the variables that bear our prefix; every one of them must be an option's. */
export function fromEnv(
  env: Readonly<Record<string, string | undefined>>,
  options: readonly Option[],
): readonly Layer[] {
  const known = new Map(options.map((option) => [option.env, option]));
  return Object.entries(env).flatMap(([name, text]) => {
    if (!name.startsWith(ENV_PREFIX) || text === undefined) return [];
    const option = known.get(name);
    if (!option) throw new StartError(78, unknownName('variable', name, known.keys()));
    return [assign(name, option.path, readText(option, text))];
  });
}

/** Reads the command line; a flag of its own beats the same setting under `--set`. */
export function fromFlags(
  { set = [], host, port, state, upstream }: Flags,
  options: readonly Option[],
): readonly Layer[] {
  const known = new Map(options.map((option) => [option.name, option]));
  const assigned = set.map((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new StartError(64, `--set wants name=value, got ${maskUrl(text)}`);
    const option = known.get(name);
    if (!option) throw new StartError(78, unknownName('setting', name, known.keys()));
    return assign(`--set ${name}`, option.path, readText(option, value));
  });
  const flag = (name: string, text: string | undefined): readonly Layer[] => {
    const option = known.get(name);
    return option === undefined || text === undefined ? [] : [assign(`--${name}`, [name], readText(option, text))];
  };
  const nodes = upstream === undefined ? [] : [assign('--upstream', ['upstreams'], upstream)];
  return [...assigned, ...flag('host', host), ...flag('port', port), ...flag('state', state), ...nodes];
}
