import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../shared/domain/reason-of.ts';
import { StartError } from '../shared/domain/start-error.ts';
import { packageFile } from '../shared/runtime/package.ts';
import { SEE_SETTINGS, sectionNameMessage, unknownNameMessage } from './config-errors.ts';
import { type ConfigLayer, isSection, singleValueLayer } from './config-layers.ts';
import { isReaderVariable } from './reader-variables.ts';
import { redactUrl } from './redact-url.ts';
import { findFormerSetting } from './renamed-settings.ts';
import { isSecretVariable } from './secret-variables.ts';
import { findServiceLinks } from './service-links.ts';
import {
  ENV_PREFIX,
  parseSettingText,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  VARIABLE_NAMES,
} from './setting-names.ts';
import { splitUrls } from './upstreams-schema.ts';

/** The options of the command line, as typed. */
export interface ConfigFlags {
  /** Name of a file in the package's `config/` (`mainnet`), or the path of another. */
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly dataDir?: string;
  readonly adminPort?: string;
  readonly workers?: string;
  readonly upstream?: readonly string[];
  /** URL of the Geyser feed of the first upstream. */
  readonly geyser?: string;
  readonly redis?: string;
  readonly set?: readonly string[];
}

export function readPackagedLayer(name: string): ConfigLayer {
  const names = readdirSync(packageFile('config/')).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);
  if (!names.includes(name)) {
    const overlays = names.filter((known) => known !== 'default').join(', ');
    throw new StartError(
      78,
      `${unknownNameMessage('configuration', name, names)} (of ${overlays}, or the path of a file)`,
    );
  }
  return readLayerFile(fileURLToPath(packageFile(`config/${name}.json`)), `config/${name}.json`);
}

/** Reads the file of `--config`: one of the package's, or the file at a path. */
export const readOverlayLayer = (nameOrPath: string, cwd: string): ConfigLayer =>
  /^[\w-]+$/.test(nameOrPath) ? readPackagedLayer(nameOrPath) : readLayerFile(pathOf(nameOrPath, cwd), nameOrPath);

function pathOf(text: string, cwd: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return resolve(cwd, text);
  // it may contain a key
  throw new StartError(64, `--config ${redactUrl(text)}: expected a file or a name; --upstream names a node`);
}

function readLayerFile(path: string, source: string): ConfigLayer {
  let values: unknown;
  try {
    values = JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, '')); // editors on Windows begin a file with it
  } catch (cause) {
    const reason = reasonOf(cause);
    // V8 quotes the text around a syntax error, which may contain a key in a URL
    throw new StartError(
      78,
      `can't read ${source}: ${reason.replace(/, [."].*(?= is not valid JSON)/s, ', it')}`,
      cause,
    );
  }
  if (!isSection(values)) throw new StartError(78, `can't read ${source}: expected an object of settings`);
  return { source, values };
}

/** Reads the variables with our prefix; each must be that of a setting, except those of a service with our name. */
export function layersFromEnv(env: Readonly<Record<string, string | undefined>>): readonly ConfigLayer[] {
  const known = new Map(SETTINGS.map((option) => [option.env, option]));
  const serviceLinks = findServiceLinks(env);
  return Object.entries(env).flatMap(([name, text]) => {
    if (!name.startsWith(ENV_PREFIX) || text === undefined || serviceLinks.has(name)) return [];
    if (isSecretVariable(name) || isReaderVariable(name)) return [];
    const option = known.get(name) ?? findFormerSetting(name);
    if (!option) throw nameError('variable', name, known, '_', VARIABLE_NAMES);
    return [singleValueLayer(name, option.path, parseSettingText(option, text))];
  });
}

/** Returns the error for a name that is that of no setting: it may be the name of a group of them. */
function nameError(
  kind: string,
  name: string,
  known: ReadonlyMap<string, Setting>,
  separator: string,
  withGroups: ReadonlySet<string>,
): StartError {
  const members = [...known.keys()].filter((member) => member.startsWith(name + separator));
  const message =
    members.length > 0
      ? sectionNameMessage(name, members, known.keys())
      : unknownNameMessage(kind, name, withGroups, SEE_SETTINGS);
  return new StartError(78, message);
}

/** The flags that stand for one setting, with its name. */
const NAMED_FLAGS = [
  ['host', '--host', 'host'],
  ['port', '--port', 'port'],
  ['dataDir', '--data-dir', 'dataDir'],
  ['adminPort', '--admin-port', 'admin.port'],
  ['workers', '--workers', 'workers.count'],
  ['redis', '--redis', 'redis.url'],
] as const;

/** Reads the command line; a flag takes precedence over the same setting in `--set`. */
export function layersFromFlags(flags: ConfigFlags): readonly ConfigLayer[] {
  const { set = [], upstream, geyser } = flags;
  const known = new Map(SETTINGS.map((option) => [option.name, option]));
  const assigned = set.map((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new StartError(64, `--set must be name=value, got ${redactUrl(text)}`);
    const option = known.get(name) ?? findFormerSetting(name);
    if (!option) throw nameError('setting', name, known, '.', SETTING_NAMES);
    return singleValueLayer(`--set ${name}`, option.path, parseSettingText(option, value));
  });
  const named = NAMED_FLAGS.flatMap(([member, flag, name]) => {
    const [option, text] = [known.get(name), flags[member]];
    return option === undefined || text === undefined
      ? []
      : [singleValueLayer(flag, option.path, parseSettingText(option, text))];
  });
  const nodes =
    upstream === undefined ? [] : [singleValueLayer('--upstream', ['upstreams'], withFeed(upstream, geyser))];
  if (geyser !== undefined && upstream === undefined)
    throw new StartError(
      64,
      '--geyser is the feed of a node: name that too with --upstream, or set upstreams[].geyser',
    );
  return [...assigned, ...named, ...nodes];
}

/** Adds a feed to the first of the nodes. */
function withFeed(nodes: readonly string[], url: string | undefined): readonly unknown[] {
  const [first = '', ...others] = nodes;
  return url === undefined ? nodes : [{ ...splitUrls(first), geyser: { url } }, ...others];
}
