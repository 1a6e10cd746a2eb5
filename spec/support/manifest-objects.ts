import { parseAllDocuments } from 'yaml';
import { findHelm } from './helm.ts';
import { findKubectl } from './kubectl.ts';
import { runToEnd } from './run-to-end.ts';

/** An object of a manifest, with the fields that specs read. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: specs go to any depth of any kind
  readonly [field: string]: any;
}

/** The output of `kubectl kustomize` for a folder. */
export async function kustomize(folder: string): Promise<readonly ManifestObject[]> {
  return objectsIn(await outputOf(await findKubectl(), ['kustomize', folder]));
}

/**
 * The output of `helm template` for a release of the chart in kube-system.
 *
 * @param values values by path, as for `--set-json`
 * @throws Error with Helm's message
 */
export async function helmTemplate(
  values: Readonly<Record<string, unknown>> = {},
  release = 'metrics-server',
): Promise<readonly ManifestObject[]> {
  return await render(release, CHART, values);
}

/** The output of `helm template` for the autoscaler's chart. */
export async function autoscalerTemplate(
  values: Readonly<Record<string, unknown>> = {},
  release = 'autoscaler',
): Promise<readonly ManifestObject[]> {
  return await render(release, AUTOSCALER_CHART, values);
}

async function render(
  release: string,
  chart: string,
  values: Readonly<Record<string, unknown>>,
): Promise<readonly ManifestObject[]> {
  const sets = Object.entries(values).map(
    ([path, value]) => `--set-json=${path}=${JSON.stringify(value) ?? ''}`,
  );
  const named = [release, chart, '--namespace=kube-system'];
  return objectsIn(await outputOf(await findHelm(), ['template', ...named, ...sets]));
}

export const CHART = 'manifests/charts/metrics-server';

export const AUTOSCALER_CHART = 'manifests/charts/autoscaler';

/** @throws Error if there is none, or more than one */
export function onlyOf(objects: readonly ManifestObject[], kind: string, name?: string): ManifestObject {
  const [found, ...others] = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  if (!found || others.length > 0) {
    const there = objects.map((object) => `${object.kind} ${object.metadata.name}`);
    throw new Error(`There is not one ${kind} ${name ?? ''} among ${there.join(', ')}`);
  }
  return found;
}

/** The only container of the server's Deployment. */
export function serverContainer(objects: readonly ManifestObject[]): ManifestObject['spec'] {
  return onlyOf(objects, 'Deployment').spec.template.spec.containers[0];
}

/** The objects of a YAML manifest. */
export function objectsIn(manifest: string): readonly ManifestObject[] {
  return parseAllDocuments(manifest).flatMap((document) => {
    if ('errors' in document && document.errors[0]) throw document.errors[0];
    const object = document.toJS();
    return object === null ? [] : [object as ManifestObject];
  });
}

async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitStatus } = await runToEnd(command, args, 20_000);
  if (exitStatus !== 0) throw new Error(stderr.trim());
  return stdout;
}
