import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Alert } from '../../shared/runtime/alert.ts';
import { repeat } from '../../shared/runtime/repeat.ts';
import { MinuteFiles } from '../network-history/minute-files.ts';
import { type Pipeline, startPipeline } from '../pipeline/pipeline.ts';
import { isHealthy, unhealthyReason } from '../routes/health.ts';
import type { Environment } from './environment.ts';
import type { Answers } from './open-answers.ts';
import type { OpenServer } from './open-server.ts';
import type { Signing } from './open-signing.ts';
import type { Upstream } from './open-upstream.ts';

/** The longest wait for the first frame at the start, so that the first caller gets an answer. */
const MAX_WARM_UP_MS = 5000;

const HEALTH_CHECK_MS = 1000;

/** Keeps the cache current. Resolves with the first frame, or after {@link MAX_WARM_UP_MS}. */
export function openPipeline(
  { config, log, clock, vitals, leaving, disposals, writes }: Environment,
  { mesh, embedded }: Upstream,
  { guard }: Pick<Signing, 'guard'>,
  { cache, context, rings, liveSources, networkHistory }: Answers,
  { server, frameDelays }: OpenServer,
): () => Promise<void> {
  let newestSlot = 0;
  let pipeline: Pipeline | undefined;
  const start = (onFirstFrame: () => void): Pipeline =>
    startPipeline({
      mesh,
      cache,
      clock,
      vitals,
      liveSources,
      rings,
      equivocationGuard: guard,
      streamId: randomBytes(8).toString('hex'),
      refresh: config.refresh,
      ...config.stream,
      isHealthy: () => isHealthy(context),
      onFrame(frame, snapshot, epoch) {
        if (frame.body !== undefined) server.publish(frame, snapshot);
        if (frame.slot > newestSlot && frame.slot === cache.tip) frameDelays.record(cache.tipAgeMs / 1000);
        newestSlot = frame.slot; // a frame that is repeated in silence has no delay
        networkHistory.observe({ snapshot, epoch, atMs: clock.monotonic(), nodeVersion: mesh.apiVersion });
        onFirstFrame();
      },
      onError: (part, err) =>
        log.warn({ part, err }, 'a part of the pipeline failed; until it succeeds, its previous answer is served'),
    });
  const health = new Alert({
    onFiring: (reason) => log.warn({}, `unhealthy: ${reason}`),
    onResolved: () => log.info({}, 'healthy again'),
  });
  disposals.defer(() => pipeline?.close());
  const checkHealth = (): void => {
    if (context.startupProblem() === undefined && !leaving.hasBegun) health.check(unhealthyReason(context));
  };
  disposals.defer(repeat(clock, HEALTH_CHECK_MS, checkHealth));
  return async () => {
    if (disposals.disposed) return;
    const { genesisHash: cluster } = mesh;
    const folder = join(config.dataDir, 'network-history');
    // an embedded cluster is another one after a restart
    if (cluster !== undefined && embedded === undefined)
      await networkHistory.continueFrom(
        new MinuteFiles({
          folder,
          cluster,
          clock,
          writes,
          onUnusable: (file, err) => log.warn({ file, err }, "a file of the network's history can't be used"),
        }),
      );
    if (disposals.disposed) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(MAX_WARM_UP_MS, resolve);
      pipeline = start(() => {
        cancel();
        resolve();
      });
    });
  };
}
