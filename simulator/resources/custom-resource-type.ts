import { z } from 'zod';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { AGE, columnOf, NAME, printerColumn } from './columns.ts';
import { groupVersion, type ResourceType, type ScaleFields } from './resource-type.ts';
import { isRecord, OBJECT_META, prune, type Schema, withDefaults } from './schema.ts';

const crdSchema = z.looseObject({
  spec: z.looseObject({
    group: z.string(),
    scope: z.enum(['Cluster', 'Namespaced']),
    names: z.looseObject({
      plural: z.string(),
      singular: z.string().default(''),
      kind: z.string(),
      listKind: z.string().default(''),
      shortNames: z.array(z.string()).optional(),
      categories: z.array(z.string()).optional(),
    }),
    versions: z.array(
      z.looseObject({
        name: z.string(),
        served: z.boolean(),
        storage: z.boolean(),
        schema: z.looseObject({ openAPIV3Schema: z.custom<Schema>(isRecord) }),
        subresources: z
          .looseObject({
            status: z.unknown().optional(),
            scale: z
              .looseObject({
                specReplicasPath: z.string(),
                statusReplicasPath: z.string(),
                labelSelectorPath: z.string().optional(),
              })
              .optional(),
          })
          .optional(),
        additionalPrinterColumns: z.array(printerColumn).optional(),
      }),
    ),
  }),
});

type Definition = z.output<typeof crdSchema>['spec'];
type Version = Definition['versions'][number];

/**
 * The resource types of a CustomResourceDefinition: one for each served version, the newest first.
 *
 * @throws Error with the field when it is invalid
 */
export function customResourceTypes(crd: KubernetesObject): readonly ResourceType[] {
  const { spec } = crdSchema.parse(crd);
  const stored = spec.versions.find(({ storage }) => storage)?.name ?? '';
  return spec.versions.filter(({ served }) => served).map((version) => typeOf(spec, version, stored));
}

function typeOf(spec: Definition, version: Version, stored: string): ResourceType {
  const { group, names, scope } = spec;
  const { subresources, additionalPrinterColumns } = version;
  const schema = withObjectFields(version.schema.openAPIV3Schema);
  const own = { group, version: version.name };
  const inVersion = (object: KubernetesObject): KubernetesObject => {
    const converted = { ...object, apiVersion: groupVersion(own) };
    return withDefaults(prune(converted, schema).value, schema) as KubernetesObject;
  };
  return {
    ...own,
    resource: names.plural,
    singular: names.singular || names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind || `${names.kind}List`,
    isNamespaced: scope === 'Namespaced',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    ...(names.shortNames ? { shortNames: names.shortNames } : {}),
    ...(names.categories ? { categories: names.categories } : {}),
    storage: `${names.plural}.${group}`,
    storageVersion: groupVersion({ group, version: stored }),
    isCustom: true,
    hasStatus: subresources?.status !== undefined,
    takesInitialStatus: false,
    hasGeneration: true,
    ...(subresources?.scale ? { scale: scaleFields(subresources.scale) } : {}),
    schema,
    allowsUnconditionalUpdate: false,
    returnsDeletedObject: false,
    columns: [NAME, ...(additionalPrinterColumns?.map(columnOf) ?? [AGE])],
    fromStored: inVersion,
  };
}

/** The schema with the fields of every object, whatever the definition declares for them. */
function withObjectFields(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  return {
    ...schema,
    properties: { apiVersion: text, kind: text, ...schema.properties, metadata: OBJECT_META },
  };
}

function scaleFields(paths: {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string | undefined;
}): ScaleFields {
  const split = (path: string) => path.split('.').filter((part) => part !== '');
  const spec = split(paths.specReplicasPath);
  const status = split(paths.statusReplicasPath);
  const selector = paths.labelSelectorPath === undefined ? undefined : split(paths.labelSelectorPath);
  const numberAt = (object: KubernetesObject, path: readonly string[]) => {
    const value = fieldAt(object, ...path);
    return typeof value === 'number' ? value : undefined;
  };
  return {
    replicas: (object) => numberAt(object, spec),
    withReplicas: (object, replicas) => withFieldAt(object, spec, replicas) as KubernetesObject,
    statusReplicas: (object) => numberAt(object, status) ?? 0,
    selector: (object) => {
      const value = selector && fieldAt(object, ...selector);
      return typeof value === 'string' ? value : undefined;
    },
    replicasPath: spec.map((field) => `f:${field}`),
  };
}

function withFieldAt(object: unknown, [field, ...rest]: readonly string[], value: unknown): unknown {
  if (field === undefined) return value;
  const record = isRecord(object) ? object : {};
  return { ...record, [field]: withFieldAt(record[field], rest, value) };
}
