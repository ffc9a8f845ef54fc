import { resolve } from 'node:path';
import { StartError } from '../shared/domain/start-error.ts';
import { describeIssue } from './config-errors.ts';
import { type ConfigLayer, mergeLayers, topLayerAt } from './config-layers.ts';
import { type Config, configSchema, type Settings } from './config-schema.ts';
import {
  type ConfigFlags,
  layersFromEnv,
  layersFromFlags,
  readOverlayLayer,
  readPackagedLayer,
} from './config-sources.ts';
import { describeFormerNames, formerNamesFirst, withPresentNames } from './renamed-settings.ts';
import { SETTING_NAMES } from './setting-names.ts';

/** The sources of a configuration besides the package's own files. */
export interface ConfigSources {
  readonly settings?: Settings;
  readonly flags?: ConfigFlags;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * Loads the configuration: config/default.json, then the settings of a program or the file that `--config` names, then the
 * environment, then the flags, each over the former. Throws a StartError that names every invalid value and unknown name, with its source.
 */
export function loadConfig(sources: ConfigSources): Config {
  const { cwd } = sources;
  const layers = [readPackagedLayer('default'), ...chosenLayers(sources).map(withPresentNames)];
  const config = configSchema.safeParse(layers.map(({ values }) => values).reduce(mergeLayers));
  if (config.success && !isPortTwice(config.data, sources)) return withAbsolutePaths(config.data, cwd);
  const issues = config.error?.issues ?? [PORT_TWICE];
  const problems = issues.map((issue) => describeIssue(issue, layers, SETTING_NAMES));
  throw new StartError(78, [...new Set(problems)].join('; '), config.error); // a value may break two rules of one text
}

/** Returns true if somebody has chosen one port for callers and operators. One that nobody has chosen gives way. */
const isPortTwice = ({ port, admin }: Config, sources: ConfigSources): boolean =>
  port !== 0 && admin.port === port && isChosen(sources, ['admin', 'port']);

const PORT_TWICE: Parameters<typeof describeIssue>[0] = {
  code: 'custom',
  path: ['admin', 'port'],
  message: 'expected another port than that for callers',
};

/** Describes the former names of settings in use, each of which the next minor version refuses. */
export const describeFormerSettings = (sources: ConfigSources): readonly string[] =>
  describeFormerNames(chosenLayers(sources));

/** Returns true if somebody has chosen the value of a setting, be it that of config/default.json. */
export const isChosen = (sources: ConfigSources, path: readonly string[]): boolean =>
  topLayerAt(chosenLayers(sources), path) !== undefined;

const chosenLayers = ({ settings: values, flags = {}, env = {}, cwd }: ConfigSources): readonly ConfigLayer[] => [
  ...(values === undefined ? [] : [{ source: 'settings', values }]),
  ...(flags.config === undefined ? [] : [readOverlayLayer(flags.config, cwd)]),
  ...formerNamesFirst(layersFromEnv(env)),
  ...formerNamesFirst(layersFromFlags(flags)),
];

function withAbsolutePaths(config: Config, cwd: string): Config {
  const { keyFile } = config.prices.jupiter;
  const jupiter = { ...config.prices.jupiter, keyFile: absolute(keyFile, cwd) };
  const { passwordFile, ca } = config.redis;
  const redis = { ...config.redis, passwordFile: absolute(passwordFile, cwd), ca: absolute(ca, cwd) };
  const upstreams = config.upstreams.map(({ geyser, ...node }) =>
    geyser === undefined
      ? node
      : {
          ...node,
          geyser: geyser.tokenFile === undefined ? geyser : { ...geyser, tokenFile: resolve(cwd, geyser.tokenFile) },
        },
  );
  return { ...config, upstreams, dataDir: resolve(cwd, config.dataDir), prices: { ...config.prices, jupiter }, redis };
}

const absolute = (path: string | null, cwd: string): string | null => (path === null ? null : resolve(cwd, path));
