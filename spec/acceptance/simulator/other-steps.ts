import { HPA_VERSIONS } from './hpa-steps.ts';
import type { RequestStep } from './request-step.ts';
import { CONFIG_MAPS, configMap, HPAS, TABLE, WIDGETS_PATH } from './step-bodies.ts';

/** Built-in kinds, which are decoded before validation. */
export const BUILT_IN: readonly RequestStep[] = [
  { name: 'create a ConfigMap', method: 'POST', path: CONFIG_MAPS, body: configMap('m', { a: '1' }) },
  {
    name: 'patch a ConfigMap strategically',
    method: 'PATCH',
    patch: 'strategic',
    path: `${CONFIG_MAPS}/m`,
    body: { data: { b: '2', a: null } },
  },
  {
    name: 'merge a number into a ConfigMap',
    method: 'PATCH',
    patch: 'merge',
    path: `${CONFIG_MAPS}/m`,
    body: { data: { b: 2 } },
  },
  {
    name: 'update a ConfigMap without a version',
    method: 'PUT',
    path: `${CONFIG_MAPS}/m`,
    body: configMap('m', { c: '3' }),
  },
  {
    name: 'apply a ConfigMap',
    method: 'PATCH',
    patch: 'apply',
    path: `${CONFIG_MAPS}/n?fieldManager=one`,
    body: configMap('n', { a: '1' }),
  },
  {
    name: 'create an HPA',
    method: 'POST',
    path: HPAS,
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
    },
  },
  {
    name: 'create an invalid HPA',
    method: 'POST',
    path: HPAS,
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'i' },
      spec: { scaleTargetRef: { kind: 'Deployment' }, minReplicas: 5, maxReplicas: 3 },
    },
  },
  { name: 'list HPAs as a table', method: 'GET', path: HPAS, accept: TABLE },
  ...HPA_VERSIONS,
  {
    name: 'list ConfigMaps as a table',
    method: 'GET',
    path: `${CONFIG_MAPS}?fieldSelector=metadata.name%3Dn`,
    accept: TABLE,
  },
];

/** Watches from a resource version, by label, and as tables. */
export const WATCHING: readonly RequestStep[] = [
  {
    name: 'list for a watch',
    method: 'GET',
    path: `${WIDGETS_PATH}?limit=1`,
    keep: { NOW: ['metadata', 'resourceVersion'] },
  },
  {
    name: 'change a watched object',
    method: 'PATCH',
    patch: 'merge',
    path: `${WIDGETS_PATH}/d`,
    body: { spec: { replicas: 2 } },
  },
  { name: 'delete a watched object', method: 'DELETE', path: `${WIDGETS_PATH}/d` },
  {
    name: 'watch from a version',
    method: 'GET',
    path: `${WIDGETS_PATH}?watch=true&resourceVersion={{NOW}}&timeoutSeconds=1`,
  },
  {
    name: 'watch by label',
    method: 'GET',
    path: `${WIDGETS_PATH}?watch=true&resourceVersion=0&labelSelector=made%3Dso&timeoutSeconds=1`,
  },
  {
    name: 'watch as a table',
    method: 'GET',
    path: `${WIDGETS_PATH}?watch=true&resourceVersion={{NOW}}&timeoutSeconds=1`,
    accept: TABLE,
  },
  {
    name: 'watch from an expired version',
    method: 'GET',
    path: `${WIDGETS_PATH}?watch=true&resourceVersion=1&timeoutSeconds=1`,
  },
];

/** Finalizers, preconditions and collections. */
export const DELETING: readonly RequestStep[] = [
  {
    name: 'add a finalizer',
    method: 'PATCH',
    patch: 'merge',
    path: `${WIDGETS_PATH}/b`,
    body: { metadata: { finalizers: ['example.com/hold'] } },
  },
  { name: 'delete an object with a finalizer', method: 'DELETE', path: `${WIDGETS_PATH}/b` },
  {
    name: 'add a finalizer to an object that is being deleted',
    method: 'PATCH',
    patch: 'merge',
    path: `${WIDGETS_PATH}/b`,
    body: { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } },
  },
  {
    name: 'remove the finalizer',
    method: 'PATCH',
    patch: 'merge',
    path: `${WIDGETS_PATH}/b`,
    body: { metadata: { finalizers: null } },
  },
  { name: 'get a deleted object', method: 'GET', path: `${WIDGETS_PATH}/b` },
  {
    name: 'delete with another UID',
    method: 'DELETE',
    path: `${WIDGETS_PATH}/a`,
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'other' } },
  },
  { name: 'delete', method: 'DELETE', path: `${WIDGETS_PATH}/a` },
  { name: 'delete a missing object', method: 'DELETE', path: `${WIDGETS_PATH}/a` },
  { name: 'delete by label', method: 'DELETE', path: `${WIDGETS_PATH}?labelSelector=made%3Dso` },
  { name: 'list the remaining objects', method: 'GET', path: WIDGETS_PATH },
];
