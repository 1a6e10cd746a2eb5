import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { LoopbackServer, type ReceivedRequest } from './loopback-server.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** An API server with one list and the same events for each watch, which stays open, and an object cache's dependencies. */
export interface ListingServer extends AsyncDisposable {
  readonly client: ApiClient;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly requests: readonly ReceivedRequest[];
}

/** Starts a server that responds to each list with the given text, and to each watch with the given lines. */
export async function startListingServer(list: string, events = ''): Promise<ListingServer> {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const server = await LoopbackServer.start(({ url }, response) => {
    if (url.searchParams.has('watch')) {
      response.flushHeaders();
      response.write(events);
    } else response.end(list);
  });
  const tls = {
    ca: undefined,
    cert: undefined,
    key: undefined,
    servername: undefined,
    rejectUnauthorized: true,
  };
  const load = async () => ({ tls, authorization: undefined });
  const access = await ClusterAccess.open({ server: server.url, proxy: undefined, load }, { clock, logger });
  const client = new ApiClient({ access, clock, userAgent: 'spec' });
  return {
    client,
    clock,
    logger,
    requests: server.requests,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
