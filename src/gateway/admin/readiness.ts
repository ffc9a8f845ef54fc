import { tipProblem } from '../routes/health.ts';
import type { Uses } from '../routes/routing/route.ts';

type ReadinessUses = Uses<'cache' | 'mesh' | 'startupProblem' | 'isLeaving'>;

export interface ReadinessCheck {
  readonly name: string;
  readonly problem: string | undefined;
}

/** Checks whether callers should be sent here: the first answers are there, slots come, and it isn't shutting down. */
export const checkReadiness = (context: ReadinessUses): readonly ReadinessCheck[] => [
  { name: 'startup', problem: context.startupProblem() },
  { name: 'tip', problem: tipProblem(context) },
  { name: 'shutdown', problem: context.isLeaving() ? 'the gateway is shutting down' : undefined },
];

export const isReady = (context: ReadinessUses): boolean =>
  checkReadiness(context).every(({ problem }) => problem === undefined);

/** Formats the checks, a line each, as Kubernetes does. */
export const formatChecks = (checks: readonly ReadinessCheck[]): string =>
  checks.map(({ name, problem }) => (problem === undefined ? `[+]${name} ok` : `[-]${name}: ${problem}`)).join('\n');
