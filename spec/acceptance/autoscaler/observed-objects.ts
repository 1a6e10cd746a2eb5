import { setTimeout as sleep } from 'node:timers/promises';
import type { InstalledAutoscaler } from './installed-autoscaler.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const SCALED_OBJECTS = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';
const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default';
const TIMEOUT_MS = 90_000;

interface Observed {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] };
}

/** Reads ScaledObjects in the namespace `default` and their targets. */
export class ObservedObjects {
  readonly #installed: InstalledAutoscaler;

  constructor(installed: InstalledAutoscaler) {
    this.#installed = installed;
  }

  /** Desired number of replicas of a Deployment. */
  async replicas(name: string): Promise<number | undefined> {
    return (await this.#client.get<Observed>(`${DEPLOYMENTS}/${name}`)).spec.replicas;
  }

  /** Status of a condition of a ScaledObject. */
  async condition(name: string, type: string): Promise<string | undefined> {
    const { status } = await this.#client.get<Observed>(`${SCALED_OBJECTS}/${name}`);
    return status?.conditions?.find((one) => one.type === type)?.status;
  }

  /** Value of a ScaledObject's external metric, from the API server; `undefined` if it serves none. */
  async external(metric: string, name: string): Promise<string | undefined> {
    const selector = encodeURIComponent(`scaledobject.keda.sh/name=${name}`);
    const path = `${EXTERNAL}/${metric}?labelSelector=${selector}`;
    try {
      const { items } = await this.#client.get<{ readonly items: readonly { readonly value: string }[] }>(
        path,
      );
      return items[0]?.value;
    } catch {
      return undefined;
    }
  }

  async untilReplicas(name: string, count: number): Promise<void> {
    await this.until(async () => (await this.replicas(name)) === count, `${name} has ${count} replicas`);
  }

  async untilCondition(name: string, type: string, status: string): Promise<void> {
    const isMet = async () => (await this.condition(name, type)) === status;
    await this.until(isMet, `${type} of ${name} is ${status}`);
  }

  /** @throws Error with the current objects on timeout */
  async until(isMet: () => Promise<boolean>, what: string): Promise<void> {
    const startedAtMs = performance.now();
    while (!(await isMet())) {
      if (performance.now() - startedAtMs > TIMEOUT_MS) {
        const objects = await this.#installed.run('get', 'so,hpa', '--output=json').catch(String);
        throw new Error(`Never true: ${what}: ${objects}`);
      }
      await sleep(200);
    }
  }

  get #client() {
    return this.#installed.controlPlane.client;
  }
}
