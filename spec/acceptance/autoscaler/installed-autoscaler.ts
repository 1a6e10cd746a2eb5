import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '#spec/support/eventually.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { RefusedRequest } from '../control-plane/control-plane-client.ts';
import type { ControlPlaneBinaries } from '../control-plane/find-binaries.ts';
import { issueToken } from '../real-cluster/installed-server.ts';

/** A real control plane with the autoscaler's manifests applied; each spec starts the replicas that it needs. */
export class InstalledAutoscaler implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly #kubectl: Kubectl;
  readonly #owned: AsyncDisposableStack;
  #starts = 0;

  private constructor(controlPlane: ControlPlane, kubectl: Kubectl, owned: AsyncDisposableStack) {
    this.controlPlane = controlPlane;
    this.#kubectl = kubectl;
    this.#owned = owned;
  }

  /**
   * @param overlay see {@link ControlPlane.overlay}
   * @param prepare runs before the manifests are applied
   */
  static async start(
    binaries: ControlPlaneBinaries,
    overlay = 'autoscaler',
    prepare: (cluster: InstalledAutoscaler) => Promise<void> = async () => {},
  ): Promise<InstalledAutoscaler> {
    await using starting = new AsyncDisposableStack();
    const controlPlane = starting.use(await ControlPlane.start(binaries));
    const kubectl = new Kubectl(await findKubectl(), controlPlane.kubeconfig);
    const installed = new InstalledAutoscaler(controlPlane, kubectl, starting.move());
    await prepare(installed);
    await installed.run('apply', '-k', controlPlane.overlay(overlay));
    await installed.untilDefinitionsAreServed();
    return installed;
  }

  /** Waits until the API server serves all custom resources; it does so some time after a definition is established. */
  async untilDefinitionsAreServed(): Promise<void> {
    await this.run('wait', '--for=condition=Established', 'crd', '--all');
    const { client } = this.controlPlane;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    for (const { spec } of (await client.get<DefinitionList>(path)).items) {
      const version = spec.versions.find(({ served }) => served);
      if (!version) continue;
      const objects = `/apis/${spec.group}/${version.name}/${spec.names.plural}?limit=1`;
      await eventually(() =>
        client.get(objects).then(
          () => true,
          (error: unknown) => {
            if (error instanceof RefusedRequest) return false;
            throw error;
          },
        ),
      );
    }
  }

  /**
   * Starts a replica as the kubelet would start its container, under the manifest's account.
   *
   * @param flags added to those of the manifest and to the listen addresses; pods have no addresses here
   */
  async startReplica(flags: readonly string[] = []): Promise<SpawnedProgram> {
    const name = `autoscaler-${++this.#starts}`;
    const folder = join(this.controlPlane.folder, name);
    await mkdir(folder, { mode: 0o700 });
    const kubeconfig = join(folder, 'kubeconfig');
    const token = await issueToken(this.controlPlane, 'autoscaler');
    await writeFile(kubeconfig, this.controlPlane.kubeconfigFor('autoscaler', { token }), { mode: 0o600 });
    const path = '/apis/apps/v1/namespaces/kube-system/deployments/autoscaler';
    const { spec } = await this.controlPlane.client.get<InstalledDeployment>(path);
    const here = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', '--secure-port=0'];
    const args = [...(spec.template.spec.containers[0]?.args ?? []), ...here, `--cert-dir=${folder}`];
    return this.#owned.use(
      new SpawnedProgram(process.execPath, ['lib/main.ts', ...args, ...flags], { name }),
    );
  }

  /** Routes the installed Service to a port of this machine, because there are no pods. */
  async expose(port: number): Promise<void> {
    const service = ['autoscaler', '--namespace=kube-system'];
    await this.run('delete', 'service', ...service);
    await this.run('create', 'service', 'externalname', ...service, '--external-name=localhost');
    const patch = JSON.stringify({ spec: { service: { port } } });
    const named = (await this.run('get', 'apiservices', '--output=name')).split('\n');
    for (const name of named.filter((one) => /(?:custom|external)\.metrics\.k8s\.io$/.test(one)))
      await this.run('patch', name, '--type=merge', `--patch=${patch}`);
  }

  /**
   * Runs kubectl as the administrator.
   *
   * @returns standard output
   * @throws Error with kubectl's error message
   */
  async run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await this.#kubectl.run(args, 60_000);
    if (exitStatus !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr.trim()}${stdout}`);
    return stdout;
  }

  /** Grants the autoscaler access to one object in the namespace `default`, as the documentation describes. */
  async grant(verb: 'get' | 'create', resource: string, resourceName: string): Promise<void> {
    const named = [`triggers-${resourceName}`, '--namespace=default'];
    const rule = [`--verb=${verb}`, `--resource=${resource}`, `--resource-name=${resourceName}`];
    await this.run('create', 'role', ...named, ...rule);
    const account = '--serviceaccount=kube-system:autoscaler';
    await this.run('create', 'rolebinding', ...named, `--role=triggers-${resourceName}`, account);
  }

  /** Runs kubectl apply. */
  async apply(...objects: readonly object[]): Promise<void> {
    const path = join(this.controlPlane.folder, 'applied.json');
    await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await this.run('apply', '--filename', path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

interface DefinitionList {
  readonly items: readonly {
    readonly spec: {
      readonly group: string;
      readonly names: { readonly plural: string };
      readonly versions: readonly { readonly name: string; readonly served: boolean }[];
    };
  }[];
}

interface InstalledDeployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: string[] }[] } };
  };
}
