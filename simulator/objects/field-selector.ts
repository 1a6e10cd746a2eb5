import { fieldAt, type KubernetesObject } from './kubernetes-object.ts';

/** Conditions on fields that an object must meet, all of them. */
export interface FieldSelector {
  matches(object: KubernetesObject): boolean;
  /** The name that `metadata.name=` asks for; authorization knows the request by it. */
  readonly name: string | undefined;
  readonly isEverything: boolean;
}

const FIELDS_OF: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
  ],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  jobs: ['status.successful'],
  replicasets: ['status.replicas'],
  events: [
    ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].flatMap((field) => [
      `involvedObject.${field}`,
      `regarding.${field}`,
    ]),
    ...['reason', 'reportingComponent', 'reportingController', 'source', 'type'],
  ],
};

/**
 * Reads a field selector: `metadata.name=a,status.phase!=Running`.
 *
 * @throws Error saying what is wrong, as for a field that the resource can't be selected by
 */
export function parseFieldSelector(text: string, { resource }: { readonly resource: string }): FieldSelector {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, resource));
  return {
    matches: (object) => terms.every((term) => (valueAt(object, term.field) === term.value) === term.isEqual),
    name: terms.find((term) => term.field === 'metadata.name' && term.isEqual)?.value,
    isEverything: terms.length === 0,
  };
}

function parseTerm(term: string, resource: string) {
  const [, field = '', sign = '', value = ''] = /^([^=!]*)(==|!=|=)(.*)$/.exec(term) ?? [];
  if (sign === '') throw new Error(`invalid selector: '${term}'; can't understand '${term}'`);
  if (!['metadata.name', 'metadata.namespace', ...(FIELDS_OF[resource] ?? [])].includes(field)) {
    throw new Error(`field label not supported: ${field}`);
  }
  return { field, value, isEqual: sign !== '!=' };
}

function valueAt(object: KubernetesObject, field: string): string {
  // Objects are selected as they are stored, and events are stored as the core group has them.
  const stored = field
    .replace(/^regarding\./, 'involvedObject.')
    .replace('reportingController', 'reportingComponent');
  const path = object.kind === 'Event' && stored === 'source' ? ['source', 'component'] : stored.split('.');
  const value = fieldAt(object, ...path);
  return value === undefined ? '' : String(value);
}
