import { tipProblem } from '../routes/health.ts';
import type { AdminSources } from './admin-sources.ts';

type ReadinessUses = Pick<AdminSources, 'context' | 'workers'>;

export interface ReadinessCheck {
  readonly name: string;
  readonly problem: string | undefined;
}

/** Checks whether callers should be sent here: the first answers are there, slots come, and the port is and stays open. */
export const checkReadiness = ({ context, workers }: ReadinessUses): readonly ReadinessCheck[] => [
  { name: 'startup', problem: context.startupProblem() },
  { name: 'tip', problem: tipProblem(context) },
  { name: 'shutdown', problem: context.isLeaving() ? 'the gateway is shutting down' : undefined },
  ...(workers === undefined
    ? [] // this process opens the port with the first answers
    : [{ name: 'workers', problem: workers.names.length === 0 ? 'no worker serves the port' : undefined }]),
];

export const isReady = (sources: ReadinessUses): boolean =>
  checkReadiness(sources).every(({ problem }) => problem === undefined);

/** Formats the checks, a line each, as Kubernetes does. */
export const formatChecks = (checks: readonly ReadinessCheck[]): string =>
  checks.map(({ name, problem }) => (problem === undefined ? `[+]${name} ok` : `[-]${name}: ${problem}`)).join('\n');
