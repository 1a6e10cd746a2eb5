import { nodeAddress } from '#simulator/nodes/population.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { readAdminAccess } from './credentials.ts';

/** A kubelet path that a server requests, with the length of its uncompressed responses. */
export interface KubeletEndpoint {
  readonly path: string;
  readonly bytes: number;
}

/** Kubelet paths that servers scrape. */
export const KUBELET_PATHS = {
  summary: '/stats/summary?only_cpu_and_memory=true',
  resource: '/metrics/resource',
} as const;

/** By the name in `kubelet_http_requests_total`. */
const PATHS: Readonly<Record<string, string>> = {
  stats: KUBELET_PATHS.summary,
  'metrics/resource': KUBELET_PATHS.resource,
};

/** Finds the endpoints that were requested from the first node's kubelet. */
export async function inspectKubelet(system: SimulatedSystem): Promise<readonly KubeletEndpoint[]> {
  const { tls } = await readAdminAccess(system);
  const origin = `https://${nodeAddress(1)}:${kubeletPortOf(system)}`;
  const request = async (path: string) =>
    (await requestHttps(`${origin}${path}`, { ...tls, rejectUnauthorized: false })).body;
  const paths = endpointsIn(await request('/metrics'));
  return Promise.all(paths.map(async (path) => ({ path, bytes: Buffer.byteLength(await request(path)) })));
}

/** Metrics endpoints with counted requests in a kubelet's exposition. */
export function endpointsIn(exposition: string): string[] {
  const roots = [...exposition.matchAll(/^kubelet_http_requests_total\{.*path="([^"]*)"/gm)];
  return roots.flatMap(([, root = '']) => PATHS[root] ?? []);
}

/** Port of all kubelets of a simulated cluster, from the simulator's ready message. */
export function kubeletPortOf({ simulator }: SimulatedSystem): number {
  const port = simulator.output.map((line) => /kubelets on port (\d+)/.exec(line)?.[1]).find(Boolean);
  if (port === undefined) throw new Error('Cannot find the port of kubelets: the simulator did not print it');
  return Number(port);
}
