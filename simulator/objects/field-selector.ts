import { fieldAt, type KubernetesObject } from './kubernetes-object.ts';

/** Requirements on fields, all of which an object must meet. */
export interface FieldSelector {
  matches(object: KubernetesObject): boolean;
  /** The name in `metadata.name=`, by which the request is authorized. */
  readonly name: string | undefined;
  readonly isEverything: boolean;
}

const FIELDS_OF: Readonly<Record<string, readonly string[]>> = {
  pods: ['spec.nodeName', 'status.phase'],
  events: [
    ...['kind', 'namespace', 'name', 'uid'].flatMap((field) => [
      `involvedObject.${field}`,
      `regarding.${field}`,
    ]),
    ...['reason', 'type'],
  ],
};

/**
 * Parses a field selector: `metadata.name=a,status.phase!=Running`.
 *
 * @throws Error for an invalid selector or an unsupported field
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
  // Selectors apply to stored objects, and events are stored as in the core group.
  const value = fieldAt(object, ...field.replace(/^regarding\./, 'involvedObject.').split('.'));
  return value === undefined ? '' : String(value);
}
