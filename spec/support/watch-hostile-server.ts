import { setImmediate as nextIteration } from 'node:timers/promises';
import { DONE, runController } from '#lib/control/controller.ts';
import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { resourceVersionOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { eventually } from './eventually.ts';
import { HostileWatchServer } from './hostile-watch-server.ts';
import { LoopbackServer } from './loopback-server.ts';
import { ManualClock } from './manual-clock.ts';
import { memoryInUse } from './open-resources.ts';
import { RecordingLogger } from './recording-logger.ts';

/** Observations of a controller that watched a hostile server. */
export interface HostileRun {
  readonly server: HostileWatchServer;
  /** The version of each object when it was last reconciled; without objects that were absent then. */
  readonly reconciled: ReadonlyMap<string, number>;
  readonly reconciles: number;
  /** Reconciliations of an object at a version that is not newer than before. */
  readonly steppedBack: readonly string[];
  /** Keys that were reconciled concurrently. */
  readonly overlapping: readonly string[];
  /** Lists after the next to last change: a list would find lost changes, so there must be none. */
  readonly lateLists: number;
  /** Memory in use after a tenth of the time, and at the end. */
  readonly memoryBytes: readonly [early: number, late: number];
}

const CHANGES_PER_SECOND = 20;
const COMPACTS_EACH_S = 60;
const LAST = 'the-last';

/** Runs a controller against a hostile API server on a manual clock; each watch breaks within a second. */
export async function watchHostileServer({
  objects,
  seconds,
}: {
  readonly objects: number;
  readonly seconds: number;
}): Promise<HostileRun> {
  await using stack = new AsyncDisposableStack();
  const [server, clock, logger] = [new HostileWatchServer(objects), new ManualClock(), new RecordingLogger()];
  const listening = stack.use(
    await LoopbackServer.start(({ url }, response) => server.respond(url, response)),
  );
  const tls = {
    ...{ ca: undefined, cert: undefined, key: undefined, servername: undefined },
    rejectUnauthorized: true,
  };
  const access = await ClusterAccess.open(
    { server: listening.url, proxy: undefined, load: async () => ({ tls, authorization: undefined }) },
    { clock, logger },
  );
  const client = stack.use(new ApiClient({ access, clock, userAgent: 'spec' }));
  const collection = { path: '/apis/spec.example.com/v1/widgets' };
  const informer = stack.use(
    new Informer({ client, clock, logger, collection, transform: resourceVersionOf }),
  );
  const reported = new Map<string, number>();
  const steppedBack: string[] = [];
  informer.onChange(({ key, current }) => {
    if (current === undefined) return;
    if (Number(current) <= (reported.get(key) ?? 0)) steppedBack.push(`${key} to ${current}`);
    reported.set(key, Number(current));
  });
  const reconciled = new Map<string, number>();
  const [active, overlapping] = [new Set<string>(), [] as string[]];
  let reconciles = 0;
  const controller = {
    name: 'spec',
    watches: [informer],
    async reconcile(key: string) {
      reconciles++;
      if (active.has(key)) overlapping.push(key);
      active.add(key);
      const found = informer.find(key);
      await nextIteration();
      if (found === undefined) reconciled.delete(key);
      else reconciled.set(key, Number(found));
      active.delete(key);
      return DONE;
    },
  };
  const ending = new AbortController();
  informer.start();
  const running = runController(controller, { clock, logger, signal: ending.signal, workers: 20 });
  stack.defer(async () => {
    ending.abort(new Error('the spec is over'));
    await running;
  });

  const watched = () =>
    eventually(async () => {
      for (let spins = 0; spins < 50 && !server.isWatched; spins++) await clock.advance(0);
      if (!server.isWatched) await clock.advance(250);
      return server.isWatched;
    });
  let earlyBytes: number | undefined;
  await watched();
  for (let second = 1; clock.monotonicMs() < seconds * 1000; second++) {
    server.change(CHANGES_PER_SECOND / 2);
    await clock.advance(500);
    server.cut();
    server.change(CHANGES_PER_SECOND / 2);
    if (second % COMPACTS_EACH_S === 0) server.remove();
    await clock.advance(500);
    await watched();
    listening.requests.length = 0; // neither these nor log lines are the controller's memory
    logger.lines.length = 0;
    if (clock.monotonicMs() > seconds * 100) earlyBytes ??= await memoryInUse();
  }
  const listsBefore = server.lists;
  server.change(10 * CHANGES_PER_SECOND);
  server.finish(LAST);
  await eventually(async () => {
    await clock.advance(0);
    return reconciled.has(LAST) && active.size === 0;
  });
  return {
    ...{ server, reconciled, reconciles, steppedBack, overlapping },
    lateLists: server.lists - listsBefore,
    memoryBytes: [earlyBytes ?? 0, await memoryInUse()],
  };
}
