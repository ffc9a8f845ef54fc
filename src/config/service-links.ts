import { ENV_PREFIX } from './setting-names.ts';

type Env = Readonly<Record<string, string | undefined>>;

const ADDRESS = /^[\d.]+$|^[\da-fA-F:.]*:[\da-fA-F:.]*$/;
const PORT_NUMBER = /^\d{1,5}$/;
const URL_OF_PORT = /^(tcp|udp|sctp):\/\/\S+:\d{1,5}$/;

/** The variables of a service: those of Kubernetes (makeLinkVariables of the kubelet), which include those of Docker. */
const SERVICE_VARIABLES: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/_SERVICE_HOST$/, ADDRESS],
  [/_SERVICE_PORT(_[A-Z0-9_]+)?$/, PORT_NUMBER],
  [/_PORT$/, URL_OF_PORT],
  [/_PORT_\d+_(TCP|UDP|SCTP)$/, URL_OF_PORT],
  [/_PORT_\d+_(TCP|UDP|SCTP)_PROTO$/, /^(tcp|udp|sctp)$/],
  [/_PORT_\d+_(TCP|UDP|SCTP)_PORT$/, PORT_NUMBER],
  [/_PORT_\d+_(TCP|UDP|SCTP)_ADDR$/, ADDRESS],
];

/** What a link of Docker adds to the variables of its port: the names of both containers, and variables of the other one. */
const DOCKER_LINK_VARIABLE = /^(.+?)_(?:NAME|ENV_.+)$/;

/** Describes the variables that were ignored, and how to be rid of them; undefined if there are none. */
export function describeServiceLinks(env: Env): string | undefined {
  const [first] = findServiceLinks(env);
  return first === undefined
    ? undefined
    : `ignored ${first} and others that Kubernetes or Docker set for a service whose name begins with slotgate: enableServiceLinks: false in the pod keeps them out`;
}

/**
 * Finds the variables that Kubernetes and Docker set for a service or link whose name begins with `slotgate`: they look
 * like settings, and `SLOTGATE_PORT` is the name of one, but their values never do.
 */
export function findServiceLinks(env: Env): ReadonlySet<string> {
  const names = Object.keys(env).filter((name) => name.startsWith(ENV_PREFIX));
  const isServiceVariable = (name: string): boolean => {
    const value = env[name];
    return value !== undefined && SERVICE_VARIABLES.some(([form, values]) => form.test(name) && values.test(value));
  };
  const isDockerVariable = (name: string): boolean => {
    const [, link] = DOCKER_LINK_VARIABLE.exec(name) ?? [];
    return link !== undefined && names.some((name) => name.startsWith(`${link}_PORT`) && isServiceVariable(name));
  };
  return new Set(names.filter((name) => isServiceVariable(name) || isDockerVariable(name)));
}
