import type { ResourceType } from '../resource-type.ts';
import { AUTOSCALING } from './autoscaling.ts';
import { CORE } from './core.ts';
import { API_REGISTRATION, OTHER_GROUPS, REVIEWS } from './other-kinds.ts';
import { RBAC } from './rbac.ts';
import { WORKLOADS } from './workloads.ts';

/** The oldest and the default simulated minor version of Kubernetes 1. */
export const MINORS = { oldest: 20, default: 34 } as const;

const EVENTS = OTHER_GROUPS.filter(({ type }) => type.group === 'events.k8s.io');
const REST = OTHER_GROUPS.filter(({ type }) => type.group !== 'events.k8s.io');

/** The built-in types of Kubernetes 1.`minor`, in the order of discovery. */
export function builtInTypes(minor: number = MINORS.default): readonly ResourceType[] {
  return [
    ...CORE,
    ...API_REGISTRATION,
    ...EVENTS,
    ...REVIEWS,
    ...groupOf('apps'),
    ...AUTOSCALING,
    ...groupOf('batch'),
    ...REST,
    ...RBAC,
  ]
    .filter(
      ({ introducedIn = 0, removedAfter = Number.POSITIVE_INFINITY }) =>
        introducedIn <= minor && minor <= removedAfter,
    )
    .map(({ type }) => type);
}

function groupOf(group: string) {
  return WORKLOADS.filter(({ type }) => type.group === group);
}
