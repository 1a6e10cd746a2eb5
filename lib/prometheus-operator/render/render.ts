import { messageOf } from '#lib/telemetry/error-text.ts';
import { printable } from '#lib/telemetry/printable.ts';
import {
  configurePrometheus,
  formatConfiguration,
  type PrometheusConfiguration,
} from '../configuration/prometheus-configuration.ts';
import type { Declared } from '../objects/declared-object.ts';
import { Refusal } from '../objects/refusal.ts';
import { identify, ObjectSet, readObjectType } from '../selection/object-set.ts';
import { maskSecrets } from './mask-secrets.ts';
import { type FileObject, readFiles } from './read-files.ts';
import type { RenderOptions } from './render-options.ts';

/** What `render` prints. */
export interface Rendered {
  /** The configurations, as YAML documents. */
  readonly output: string;
  /** One line for each object that is refused, with its file. */
  readonly refusals: readonly string[];
  /** Lines about what was not read, which is no error. */
  readonly notes: readonly string[];
}

/**
 * Makes the configuration of each Prometheus that is in files, without a cluster.
 *
 * @throws if a path does not exist, or there is no Prometheus
 */
export async function render(options: RenderOptions): Promise<Rendered> {
  const { objects, unreadable } = await readFiles(options.paths);
  const read = readObjects(objects, options.namespace);
  const refusals = [...unreadable.map(({ place, reason }) => `${place}: ${reason}`), ...read.refusals];
  const prometheuses = read.set.ofKind('Prometheus');
  if (prometheuses.length === 0 && refusals.length === 0)
    throw new Error(`Cannot find a Prometheus in ${options.paths.join(', ')}`);
  const placeOf = (object: Declared) => read.places.get(identify(object)) ?? '';
  const documents: string[] = [];
  for (const prometheus of prometheuses) {
    const name = identify(prometheus);
    try {
      const configured = configurePrometheus(prometheus, read.set, options);
      documents.push(formatDocument(name, configured, options));
      for (const { object, reason } of configured.refused)
        refusals.push(`${placeOf(object)}: ${identify(object)} is left out of ${name}: ${reason}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.push(`${placeOf(prometheus)}: ${name} has no configuration: ${error.message}`);
    }
  }
  return {
    output: documents.join('---\n'),
    refusals: refusals.map(printable),
    notes: read.unsupported.map(([kind, count]) => `Not read: ${count} ${printable(kind)}`),
  };
}

function formatDocument(
  name: string,
  { file, omittedFields }: PrometheusConfiguration,
  { showsSecrets }: RenderOptions,
): string {
  if (file === undefined) return `# ${name}: without selectors, its configuration is not generated\n`;
  const comments = [
    name,
    ...(omittedFields.length > 0
      ? [`Left out, since the version lacks it: ${omittedFields.join(', ')}`]
      : []),
  ];
  const header = comments.map((comment) => `# ${printable(comment)}\n`).join('');
  return header + formatConfiguration(showsSecrets ? file : maskSecrets(file));
}

interface ReadObjects {
  readonly set: ObjectSet;
  /** Where objects are declared. */
  readonly places: ReadonlyMap<string, string>;
  readonly refusals: readonly string[];
  /** Kinds that this program does not read, and how many objects there are of each. */
  readonly unsupported: readonly (readonly [kind: string, count: number])[];
}

function readObjects(objects: readonly FileObject[], namespace: string): ReadObjects {
  const set = new ObjectSet(namespace);
  const places = new Map<string, string>();
  const refusals: string[] = [];
  const unsupported = new Map<string, number>();
  for (const { place, value } of objects) {
    const type = readObjectType(value);
    if (type === undefined) {
      refusals.push(`${place}: not an object of Kubernetes: apiVersion or kind is missing`);
      continue;
    }
    try {
      const { outcome, key } = set.add(value, type);
      if (outcome === 'unsupported') unsupported.set(type.kind, (unsupported.get(type.kind) ?? 0) + 1);
      const earlier = key === undefined ? undefined : places.get(key);
      if (earlier !== undefined) refusals.push(`${place}: ${key} is also in ${earlier}`);
      if (key !== undefined) places.set(key, place);
    } catch (error) {
      refusals.push(`${place}: ${messageOf(error)}`);
    }
  }
  return { set, places, refusals, unsupported: [...unsupported].sort() };
}
