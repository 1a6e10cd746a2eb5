import * as z from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import {
  type Declared,
  type DeclaredKind,
  isDeclaredKind,
  readDeclared,
} from '../objects/declared-object.ts';

/** A group of the API whose objects declare what Prometheus does. */
const GROUP = 'monitoring.coreos.com';

const SECRET = z.object({
  data: z.record(z.string(), z.string()).nullish(),
  stringData: z.record(z.string(), z.string()).nullish(),
});
const CONFIG_MAP = z.object({ data: z.record(z.string(), z.string()).nullish() });

/** The objects from which configurations are made, by kind. */
export class ObjectSet {
  /** By {@link identify}. */
  readonly #declared = new Map<string, Declared>();
  readonly #namespaces = new Map<string, Readonly<Record<string, string>>>();
  /** Values by key, of Secrets decoded; of an object by {@link identify}. */
  readonly #data = new Map<string, ReadonlyMap<string, string>>();
  readonly #defaultNamespace: string;

  constructor(defaultNamespace: string) {
    this.#defaultNamespace = defaultNamespace;
  }

  /**
   * Adds an object, or replaces that of the same name.
   *
   * @returns the key of {@link identify}; `unsupported` for a kind of the group that this program does not read, `ignored`
   * for any other kind
   * @throws for an object that its schema refuses
   */
  add(value: unknown, { group, kind }: ObjectType): AddedObject {
    if (group === GROUP) {
      if (!isDeclaredKind(kind)) return { outcome: 'unsupported' };
      const object = readDeclared(kind, value, this.#defaultNamespace);
      const key = identify(object);
      this.#declared.set(key, object);
      return { outcome: 'added', key };
    }
    if (group !== '') return { outcome: 'ignored' };
    if (kind === 'Namespace') {
      const { name, labels = {} } = readObject(value).metadata;
      this.#namespaces.set(name, labels);
      return { outcome: 'added', key: `Namespace ${name}` };
    }
    if (kind !== 'Secret' && kind !== 'ConfigMap') return { outcome: 'ignored' };
    const { namespace = this.#defaultNamespace, name } = readObject(value).metadata;
    const key = identify({ kind, namespace, name });
    this.#data.set(key, kind === 'Secret' ? readSecret(value) : readConfigMap(value));
    return { outcome: 'added', key };
  }

  /** Sorted by `namespace/name`, as the jobs of a configuration are. */
  ofKind<Kind extends DeclaredKind>(kind: Kind): readonly Declared<Kind>[] {
    const objects = [...this.#declared.values()].filter((one): one is Declared<Kind> => one.kind === kind);
    return objects.sort((one, other) => (identify(one) < identify(other) ? -1 : 1));
  }

  /** Labels of a namespace; one that is not in the set has only the label of its name. */
  namespaceLabels(namespace: string): Readonly<Record<string, string>> {
    return { 'kubernetes.io/metadata.name': namespace, ...this.#namespaces.get(namespace) };
  }

  /** Values of a Secret or ConfigMap by key; `undefined` if there is no such object. */
  data(kind: 'Secret' | 'ConfigMap', name: NamespacedName): ReadonlyMap<string, string> | undefined {
    return this.#data.get(identify({ kind, ...name }));
  }
}

interface AddedObject {
  readonly outcome: 'added' | 'unsupported' | 'ignored';
  /** As in `ServiceMonitor shop/web`. */
  readonly key?: string;
}

interface ObjectType {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
}

interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Identifies an object in an {@link ObjectSet}, and for the reader of a message: as in `ServiceMonitor shop/web`. */
export function identify({ kind, namespace, name }: NamespacedName & { readonly kind: string }): string {
  return `${kind} ${namespace}/${name}`;
}

function readSecret(value: unknown): ReadonlyMap<string, string> {
  const { data, stringData } = readAs(SECRET, 'the Secret', value);
  const decoded = Object.entries(data ?? {}).map(([key, text]): [string, string] => [
    key,
    Buffer.from(text, 'base64').toString('utf8'),
  ]);
  return new Map([...decoded, ...Object.entries(stringData ?? {})]);
}

function readConfigMap(value: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(readAs(CONFIG_MAP, 'the ConfigMap', value).data ?? {}));
}

/** The type of an object by its `apiVersion` and `kind`; `undefined` for anything else than an object. */
export function readObjectType(value: unknown): ObjectType | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = value as Record<string, unknown>;
  const [apiVersion, kind] = [getOwn(fields, 'apiVersion'), getOwn(fields, 'kind')];
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const slash = apiVersion.indexOf('/');
  return { group: slash === -1 ? '' : apiVersion.slice(0, slash), kind };
}
