import { type AdminListener, type AdminPage, openAdminListener, plain } from './admin-listener.ts';
import type { AdminSources } from './admin-sources.ts';
import { metricsOf } from './metrics.ts';
import { createMetricsPage } from './metrics-page.ts';
import { checkReadiness, formatChecks } from './readiness.ts';
import { createStatusPage } from './status-page.ts';
import { createUsagePage } from './usage-page.ts';

export interface AdminOptions {
  readonly sources: AdminSources;
  /** Whether the configured port must be it: else the next one that is free is taken. */
  readonly isPortChosen: boolean;
  readonly onWarning: (message: string) => void;
  readonly onDefect: (path: string, defect: unknown) => void;
}

/** Opens the listener for operators; undefined if the configuration has none. Throws a StartError. */
export async function openAdmin({ sources, ...options }: AdminOptions): Promise<AdminListener | undefined> {
  const { config, context } = sources;
  const { host, port } = config.admin;
  if (port === null) return undefined;
  const ready: AdminPage = () => {
    const checks = checkReadiness(context);
    return plain(checks.every(({ problem }) => problem === undefined) ? 200 : 503, formatChecks(checks));
  };
  const { workers } = sources;
  const metrics = metricsOf(sources).map((metric) => workers?.spread(metric) ?? metric);
  const pages = new Map<string, AdminPage>([
    ['/metrics', createMetricsPage(metrics)],
    ['/livez', () => plain(200, 'ok')],
    ['/readyz', ready],
    ['/statusz', createStatusPage(sources)],
    ['/usage.json', createUsagePage(config.state)],
  ]);
  return openAdminListener({ ...options, host, port, callersPort: config.port, pages });
}
