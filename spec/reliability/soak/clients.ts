import { setTimeout as sleep } from 'node:timers/promises';
import { openHttps } from '#spec/support/https-request.ts';
import type { ServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

const PODS = '/apis/metrics.k8s.io/v1beta1/pods';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PAUSE_MS = 100;

/** Requests of all kinds of clients. */
const REQUESTS: readonly { readonly path: string; readonly accept?: string; readonly encoding?: string }[] = [
  { path: PODS },
  { path: PODS, accept: 'application/vnd.kubernetes.protobuf' },
  { path: `${PODS}?labelSelector=app`, encoding: 'gzip' },
  { path: '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods', accept: TABLE },
  { path: '/apis/metrics.k8s.io/v1beta1/nodes' },
  { path: '/apis/metrics.k8s.io/v1beta1' },
  { path: '/openapi/v3', encoding: 'gzip' },
  { path: '/livez?verbose' },
];

/** Sends all requests and disconnects once each response begins, until the signal aborts. */
export async function leaveOn(
  { port, cluster }: ServerInCluster,
  signal: AbortSignal,
  onFailure: (what: string) => void,
): Promise<void> {
  const { certificatePem: cert, privateKeyPem: key } = cluster.pki.admin;
  while (!signal.aborted) {
    try {
      const options = { cert, key, rejectUnauthorized: false };
      (await openHttps(`https://127.0.0.1:${port}${PODS}`, options)).destroy();
    } catch (error) {
      onFailure(`${PODS}, to leave: ${error}`);
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {}); // aborted
  }
}

/** Sends one request after another until the signal aborts, and reports each response other than 200. */
export async function requestOn(
  { request }: ServerInCluster,
  signal: AbortSignal,
  onFailure: (what: string) => void,
): Promise<void> {
  for (let sent = 0; !signal.aborted; sent++) {
    const { path, accept, encoding } = REQUESTS[sent % REQUESTS.length] ?? { path: PODS };
    const headers = {
      ...(accept === undefined ? {} : { Accept: accept }),
      ...(encoding === undefined ? {} : { 'Accept-Encoding': encoding }),
    };
    try {
      const { status } = await request(path, { headers });
      if (status !== 200) onFailure(`${path}: ${status}`);
    } catch (error) {
      onFailure(`${path}: ${error}`);
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {}); // aborted
  }
}
