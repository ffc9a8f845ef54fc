import { closeMsOf } from '../config/config-schema.ts';
import { type ConfigSources, describeFormerSettings, isChosen, loadConfig } from '../config/load-config.ts';
import { operatorsIn } from '../config/operators.ts';
import { extractSecrets } from '../config/secret-variables.ts';
import { describeServiceLinks } from '../config/service-links.ts';
import { extractKeySource, openEngine, openGateway, startEmbedded } from '../gateway/index.ts';
import type { StartError } from '../shared/domain/start-error.ts';
import { createLog } from '../shared/runtime/log.ts';
import { version } from '../shared/runtime/package.ts';
import { repeat } from '../shared/runtime/repeat.ts';
import { systemClock } from '../shared/runtime/system-clock.ts';
import { logListening, type RunningGateway, runUntilSignal } from './run-process.ts';
import { formatBanner } from './start-banner.ts';
import { startWithWorkers } from './start-with-workers.ts';
import { Progress } from './terminal/progress.ts';

/** Serves until a signal ends the process. */
export async function startGateway(sources: ConfigSources): Promise<void> {
  const config = loadConfig(sources);
  process.title = 'slotgate'; // also removes the arguments, which may contain a node's key, from the list of processes
  const startedMs = systemClock.monotonic();
  const receiptKey = extractKeySource(process.env);
  const secrets = extractSecrets(process.env);

  const embedded = startEmbedded(config); // its thread loads while this one does
  embedded?.catch(() => {}); // openGateway throws the reason
  const log = createLog(config.log.level);
  const engine = await openEngine(config, log);
  const warnings = [...describeFormerSettings(sources), describeServiceLinks(process.env) ?? []].flat();
  for (const warning of warnings) log.warn({}, warning);
  const waiting = new Progress({ output: process.stderr, clock: systemClock, what: 'waiting for the first answers' });
  const stopWaiting = repeat(systemClock, WAITING_MS, () => waiting.advance(0));
  const options = {
    config,
    loadConfig: () => loadConfig(sources),
    log,
    engine,
    receiptKey,
    secrets,
    embedded,
    isAdminPortChosen: isChosen(sources, ['admin', 'port']),
  };
  const open = (onFatal: (failure: StartError) => void): Promise<RunningGateway> =>
    (config.workers.count === 0 ? openGateway(options) : startWithWorkers(options, sources, onFatal)).finally(() => {
      stopWaiting();
      waiting.end();
    });
  const announce = (gateway: RunningGateway): void => {
    process.title = `slotgate ${gateway.url.slice('http://'.length)}`; // distinguishes two of them in a list of processes
    if (process.stdout.isTTY !== true || config.log.level !== 'info') {
      logListening(gateway, log);
      return;
    }
    const startMs = systemClock.monotonic() - startedMs;
    process.stdout.write(
      formatBanner(gateway, { version, startMs, pages: config.pages ? PAGES : [], operators: operatorsIn(config) }),
    );
  };
  const closeMs = config.drainDelayMs + closeMsOf(config) + (config.workers.count === 0 ? 0 : 2_000);
  await runUntilSignal(open, log, closeMs, announce, process.stdout.isTTY === true);
}

/** Pages for people, as a banner names them. */
const PAGES = ['/', '/docs', '/explorer', '/verify'];

/** Time between two checks of what is waited for, in milliseconds. */
const WAITING_MS = 100;
