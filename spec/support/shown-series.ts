import { requestHttps } from './https-request.ts';
import { servedSeries } from './served-series.ts';
import { createShownObjects } from './shown-objects.ts';
import { startWatchedAutoscaler } from './watched-autoscaler.ts';

/** Expositions of both programs with samples of as many families as possible. */
export interface ShownSeries {
  readonly metricsServer: string;
  readonly autoscaler: string;
}

/** Starts both programs with objects of all kinds, some of which fail, and reads their `/metrics`. */
export async function shownSeries(): Promise<ShownSeries> {
  await using autoscaler = await startWatchedAutoscaler(['--authorization-always-allow-paths=/metrics']);
  await createShownObjects(autoscaler);
  await autoscaler.elapse(60);
  const { body } = await requestHttps(`${autoscaler.origin}/metrics`, { rejectUnauthorized: false });
  return { metricsServer: await servedSeries(), autoscaler: body };
}
