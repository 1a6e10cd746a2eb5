import { groupVersion, qualified, type ResourceType } from '../resource-type.ts';
import { openKind } from './schema-builders.ts';

/** A built-in type as its table tells it, with the minors of Kubernetes 1 that serve it. */
export interface BuiltIn {
  readonly type: ResourceType;
  /** The first minor that serves it; from 1.20 on, which is the oldest that is simulated, unless told. */
  readonly since?: number;
  /** The last minor that serves it. */
  readonly until?: number;
}

/** What must be told of a built-in type; the rest has a default. */
export type BuiltInFacts = Pick<ResourceType, 'group' | 'version' | 'resource' | 'kind' | 'isNamespaced'> &
  Partial<ResourceType> & { readonly since?: number; readonly until?: number };

const STORED_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Completes a row of the table of built-in types. */
export function builtIn({ since, until, ...facts }: BuiltInFacts): BuiltIn {
  const type: ResourceType = {
    singular: facts.kind.toLowerCase(),
    listKind: `${facts.kind}List`,
    verbs: STORED_VERBS,
    storage: qualified(facts),
    storedAs: groupVersion(facts),
    isCustom: false,
    hasStatus: false,
    takesInitialStatus: false,
    hasGeneration: false,
    schema: openKind(`${facts.kind} of ${groupVersion(facts)}.`),
    allowsBlindUpdates: true,
    createsOnUpdate: false,
    returnsDeleted: false,
    ...facts,
  };
  return { type, ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
}

/** A type whose objects are computed when they are posted, and stored nowhere. */
export function review(group: string, resource: string, kind: string): BuiltIn {
  return builtIn({ group, version: 'v1', resource, kind, isNamespaced: false, verbs: ['create'] });
}
