import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { freePort } from '#spec/support/free-port.ts';
import { type ManifestObject, serverContainer } from '#spec/support/manifest-objects.ts';
import { startInstalledServer } from '../real-cluster/installed-server.ts';
import type { InstalledAutoscaler } from './installed-autoscaler.ts';

const API_SERVICE = 'v1beta1.metrics.k8s.io';
/** The shortest supported interval: CPU usage requires two readings 10 s apart. */
const OFTEN = ['--metric-resolution=10s', '--kubelet-request-timeout=8s'];

/**
 * Runs metrics-server beside the autoscaler, behind the aggregator: installed by its manifests, started from the
 * checkout under their account.
 *
 * @param owner disposes of it
 */
export async function serveResourceMetrics(
  installed: InstalledAutoscaler,
  owner: AsyncDisposableStack,
): Promise<void> {
  const { controlPlane } = installed;
  await installed.run('apply', '-k', 'manifests/overlays/release');
  const path = '/apis/apps/v1/namespaces/kube-system/deployments/metrics-server';
  const { args, ...container } = serverContainer([await controlPlane.client.get<ManifestObject>(path)]);
  const port = await freePort();
  await exposeAt(installed, port);
  const folder = join(controlPlane.folder, 'metrics-server');
  await mkdir(folder, { mode: 0o700 });
  const checkout = { root: resolve('.'), entrypoint: ['lib/main.ts'], user: '', labels: '' };
  const server = await startInstalledServer(controlPlane, {
    ...{ image: checkout, port, folder, isConfined: false },
    container: { ...container, args: [...args, ...OFTEN] },
  });
  owner.use(server);
  await server.line(/Serving/, 60_000);
}

/** Routes the installed Service to a port of this machine, because there are no pods. */
async function exposeAt(installed: InstalledAutoscaler, port: number): Promise<void> {
  const service = ['metrics-server', '--namespace=kube-system'];
  await installed.run('delete', 'service', ...service);
  await installed.run('create', 'service', 'externalname', ...service, '--external-name=localhost');
  const patch = JSON.stringify({ spec: { service: { port } } });
  await installed.run('patch', 'apiservice', API_SERVICE, '--type=merge', `--patch=${patch}`);
}
