import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { isRecord, type Schema } from '../schema.ts';
import { type FieldError, invalidValue, requiredValue } from '../validate.ts';
import { CONDITIONS, flag, integer, kind, list, object, open, text } from './kind-builders.ts';

const strings = (description: string) => list(description, { type: 'string' });

const names = object(
  'How the resource is called.',
  {
    plural: text('In paths.'),
    singular: text('On the command line.'),
    kind: text('In objects.'),
    listKind: text('Of lists of it.'),
    shortNames: strings('Further names on the command line.'),
    categories: strings('Groups of resources that it belongs to, as `all`.'),
  },
  { required: ['kind', 'plural'] },
);

const version = object(
  'One version of the resource.',
  {
    name: text('As v1 or v1beta1.'),
    served: flag('Whether requests may use it.'),
    storage: flag('Whether objects are stored in it.'),
    deprecated: flag('Whether clients of this version receive a warning.'),
    deprecationWarning: text('The text of the warning.'),
    schema: object('The schema of its objects.', {
      openAPIV3Schema: open('A structural schema.'),
    }),
    subresources: object('Subresources of the object.', {
      status: open('The status is written by itself.'),
      scale: object(
        'Replicas can be set as those of workloads.',
        {
          specReplicasPath: text('Path of the desired replicas.'),
          statusReplicasPath: text('Where the observed number is.'),
          labelSelectorPath: text('Where the selector of its pods is, as text.'),
        },
        { required: ['specReplicasPath', 'statusReplicasPath'] },
      ),
    }),
    additionalPrinterColumns: list(
      'Columns of tables beside the name.',
      object(
        'One column.',
        {
          name: text('Its head.'),
          type: text('Of its values.'),
          format: text('Of its values.'),
          description: text('Description of the column.'),
          priority: integer('Shown in wide tables alone where it is above 0.'),
          jsonPath: text('Where the value is.'),
        },
        { required: ['name', 'type', 'jsonPath'] },
      ),
    ),
    selectableFields: list('Fields that can be selected by.', open('One field.')),
  },
  { required: ['name', 'served', 'storage'] },
);

/** CustomResourceDefinition of apiextensions.k8s.io/v1. */
export const CRD_SCHEMA: Schema = kind(
  'CustomResourceDefinition describes a resource to be served by name.',
  {
    spec: object(
      'The desired state of the definition.',
      {
        group: text('The API group.'),
        names,
        scope: text('Cluster or Namespaced.', { enum: ['Cluster', 'Namespaced'] }),
        versions: list('All versions of the resource.', version),
        conversion: open(
          'Conversion between versions.',
          { strategy: text('None or Webhook.') },
          { default: { strategy: 'None' } },
        ),
        preserveUnknownFields: flag('Must be false.'),
      },
      { required: ['group', 'names', 'scope', 'versions'] },
    ),
    status: open('The observed state.', { conditions: CONDITIONS }),
  },
);

/** Sets the names that depend on others. */
export function completeCustomResourceDefinition(crd: KubernetesObject): KubernetesObject {
  const spec = crd.spec as { readonly names?: Readonly<Record<string, unknown>> };
  const kindName = String(spec.names?.kind ?? '');
  const defaults = { singular: kindName.toLowerCase(), listKind: `${kindName}List` };
  return { ...crd, spec: { ...spec, names: { ...defaults, ...spec.names } } };
}

/** Validates rules that the schema cannot express. */
export function checkCustomResourceDefinition(crd: KubernetesObject): readonly FieldError[] {
  const plural = fieldAt(crd, 'spec', 'names', 'plural');
  const group = String(fieldAt(crd, 'spec', 'group'));
  const versions = fieldAt(crd, 'spec', 'versions');
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  const stored = all.filter((one) => fieldAt(one, 'storage') === true);
  return [
    ...(crd.metadata.name === `${plural}.${group}`
      ? []
      : [invalidValue('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...(group.includes('.')
      ? []
      : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]),
    ...(stored.length === 1
      ? []
      : [
          invalidValue(
            'spec.versions',
            all.map((one) => fieldAt(one, 'name')),
            'must have exactly one version marked as storage version',
          ),
        ]),
    ...all.flatMap((one, index) => {
      const at = `spec.versions[${index}].schema.openAPIV3Schema`;
      const schema = fieldAt(one, 'schema', 'openAPIV3Schema');
      return schema === undefined
        ? [requiredValue(at, 'schemas are required')]
        : structuralErrors(schema, at, { isRoot: true });
    }),
  ];
}

/** Validates that a schema is structural: every field has a type, and unknown fields are preserved only on request. */
function structuralErrors(schema: unknown, path: string, { isRoot = false } = {}): readonly FieldError[] {
  if (!isRecord(schema)) return [];
  const isFree =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const errors: FieldError[] = [];
  if (isRoot && schema.type !== 'object')
    errors.push(invalidValue(`${path}.type`, schema.type ?? '', 'must be object at the root'));
  else if (schema.type === undefined && !isFree)
    errors.push(requiredValue(`${path}.type`, 'must not be empty for specified object fields'));
  if (isRecord(schema.properties)) {
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false)
      errors.push({
        field: `${path}.additionalProperties`,
        reason: 'FieldValueForbidden',
        message: 'Forbidden: additionalProperties and properties are mutual exclusive',
      });
    for (const [name, property] of Object.entries(schema.properties))
      if (!isRoot || name !== 'metadata')
        errors.push(...structuralErrors(property, `${path}.properties[${name}]`));
  }
  if (isRecord(schema.additionalProperties))
    errors.push(...structuralErrors(schema.additionalProperties, `${path}.additionalProperties`));
  if (schema.type === 'array' && schema.items === undefined)
    errors.push(requiredValue(`${path}.items`, 'must be specified'));
  if (typeof schema.pattern === 'string' && !isRegularExpression(schema.pattern))
    errors.push(invalidValue(`${path}.pattern`, schema.pattern, 'must be a valid regular expression'));
  return [...errors, ...structuralErrors(schema.items, `${path}.items`)];
}

function isRegularExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern) !== undefined;
  } catch {
    return false;
  }
}
