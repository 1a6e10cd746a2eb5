import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import type { ManifestObject } from '#spec/support/manifest-objects.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import type { ObjectList } from '../control-plane/control-plane-client.ts';
import type { ControlPlaneBinaries } from '../control-plane/find-binaries.ts';
import { type BuiltImage, buildImage } from '../image/build-image.ts';
import { canConfine, type ServerContainer, startInstalledServer } from './installed-server.ts';
import { PodAgent } from './pod-agent.ts';
import { SimulatedNodes } from './simulated-nodes.ts';

interface Parts {
  readonly controlPlane: ControlPlane;
  readonly nodes: SimulatedNodes;
  readonly pods: PodAgent;
  readonly image: BuiltImage;
  readonly kubectl: Kubectl;
  readonly port: number;
  readonly isConfined: boolean;
}

const NODES = 3;

/**
 * A real control plane with simulated nodes, on which the manifests can be applied and the server can run as they
 * specify.
 */
export class RealCluster implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly nodes: SimulatedNodes;
  /** Agent of the namespace `default`. */
  readonly pods: PodAgent;
  readonly image: BuiltImage;
  readonly kubectl: Kubectl;
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Whether the server runs under the manifest's security context. */
  readonly isConfined: boolean;
  readonly #owned: AsyncDisposable;
  #server: SpawnedProgram | undefined;
  #starts = 0;

  private constructor(parts: Parts, owned: AsyncDisposable) {
    this.controlPlane = parts.controlPlane;
    this.nodes = parts.nodes;
    this.pods = parts.pods;
    this.image = parts.image;
    this.kubectl = parts.kubectl;
    this.port = parts.port;
    this.isConfined = parts.isConfined;
    this.#owned = owned;
  }

  static async start(binaries: ControlPlaneBinaries): Promise<RealCluster> {
    await using starting = new AsyncDisposableStack();
    const controlPlane = starting.use(await ControlPlane.start(binaries));
    const image = await buildImage(join(controlPlane.folder, 'image'));
    const nodes = starting.use(await SimulatedNodes.start(controlPlane, NODES));
    const pods = starting.use(new PodAgent(controlPlane.client, { nodes, namespace: 'default' }));
    const kubectl = new Kubectl(await findKubectl(), controlPlane.kubeconfig);
    const [port, isConfined] = [await freePort(), await canConfine()];
    const parts = { controlPlane, nodes, pods, image, kubectl, port, isConfined };
    return new RealCluster(parts, starting.move());
  }

  get server(): SpawnedProgram {
    if (!this.#server) throw new Error('The server has not been started');
    return this.#server;
  }

  /** Starts the server as a Deployment's container specifies, in place of the previous process. */
  async startServer(container: ServerContainer): Promise<void> {
    await this.stopServer();
    const { controlPlane, image, port, isConfined } = this;
    const folder = join(controlPlane.folder, `server-${++this.#starts}`);
    await mkdir(folder, { mode: 0o755 });
    this.#server = await startInstalledServer(controlPlane, { image, container, port, folder, isConfined });
    await this.#server.line(/Serving/, 30_000);
  }

  /** Current Deployment of the server, from the API server. */
  async deployment(): Promise<ManifestObject> {
    const path = '/apis/apps/v1/namespaces/kube-system/deployments/metrics-server';
    return await this.controlPlane.client.get<ManifestObject>(path);
  }

  /** Routes the installed Service to this machine, because there are no pods. */
  async exposeServer(): Promise<void> {
    const service = ['metrics-server', '--namespace=kube-system'];
    await this.run('delete', 'service', ...service);
    await this.run('create', 'service', 'externalname', ...service, '--external-name=localhost');
    const patch = JSON.stringify({ spec: { service: { port: this.port } } });
    await this.run('patch', 'apiservice', 'v1beta1.metrics.k8s.io', '--type=merge', `--patch=${patch}`);
  }

  /** Waits until the API server serves metrics of every node and of this number of pods. */
  async untilServed({ pods }: { readonly pods: number }): Promise<void> {
    const metrics = '/apis/metrics.k8s.io/v1beta1';
    for (const [kind, count] of Object.entries({ nodes: NODES, pods })) {
      await this.until(
        () => this.controlPlane.client.get<ObjectList>(`${metrics}/${kind}`),
        ({ items }) => items.length === count,
        60_000,
      );
    }
  }

  async stopServer(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  /**
   * Runs kubectl.
   *
   * @returns standard output
   * @throws Error with kubectl's error message
   */
  async run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await this.kubectl.run(args, 60_000);
    if (exitStatus !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr.trim()}${stdout}`);
    return stdout;
  }

  /**
   * Writes an object to a file for kubectl.
   *
   * @returns the path of the file
   */
  async write(name: string, object: object): Promise<string> {
    const path = join(this.controlPlane.folder, name);
    await writeFile(path, JSON.stringify(object));
    return path;
  }

  /**
   * Polls until the response is as desired.
   *
   * @throws Error with the last response after `timeoutMs`
   */
  async until<T>(
    request: () => Promise<T>,
    isWanted: (response: T) => boolean,
    timeoutMs: number,
  ): Promise<T> {
    const deadlineMs = Date.now() + timeoutMs;
    for (;;) {
      if (this.pods.failure) throw this.pods.failure;
      const response = await request().catch((error: Error) => error);
      if (!(response instanceof Error) && isWanted(response)) return response;
      if (Date.now() > deadlineMs) {
        const last = response instanceof Error ? response.message : JSON.stringify(response);
        const words = this.#server?.output.slice(-10).join('\n') ?? '';
        throw new Error(`Not within ${timeoutMs / 1000} s; at last: ${last}\nThe server says:\n${words}`);
      }
      await sleep(500);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopServer();
    await this.#owned[Symbol.asyncDispose]();
  }
}
