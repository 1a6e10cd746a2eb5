import type { RequestStep } from './request-step.ts';
import { TABLE, WIDGETS_PATH } from './step-bodies.ts';

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Gets, lists by page and selector, tables, metadata only, and discovery. */
export const READING: readonly RequestStep[] = [
  { name: 'get', method: 'GET', path: `${WIDGETS_PATH}/a` },
  { name: 'get a missing object', method: 'GET', path: `${WIDGETS_PATH}/none` },
  { name: 'get an unknown resource', method: 'GET', path: '/apis/example.com/v1/namespaces/default/gadgets' },
  { name: 'get an unknown group', method: 'GET', path: '/apis/nobody.example.com/v1' },
  { name: 'get as a table', method: 'GET', path: `${WIDGETS_PATH}/a`, accept: TABLE },
  { name: 'list as a table', method: 'GET', path: WIDGETS_PATH, accept: TABLE },
  { name: 'get only the metadata', method: 'GET', path: `${WIDGETS_PATH}/a`, accept: METADATA_ONLY },
  { name: 'list by label', method: 'GET', path: `${WIDGETS_PATH}?labelSelector=made%3Dso` },
  {
    name: 'list by an invalid label selector',
    method: 'GET',
    path: `${WIDGETS_PATH}?labelSelector=a%3D%3D%3D`,
  },
  { name: 'list by name', method: 'GET', path: `${WIDGETS_PATH}?fieldSelector=metadata.name%3Da` },
  {
    name: 'list by an unsupported field selector',
    method: 'GET',
    path: `${WIDGETS_PATH}?fieldSelector=spec.colour%3Dred`,
  },
  {
    name: 'list the first page',
    method: 'GET',
    path: `${WIDGETS_PATH}?limit=2`,
    keep: { TOKEN: ['metadata', 'continue'] },
  },
  { name: 'list the second page', method: 'GET', path: `${WIDGETS_PATH}?limit=2&continue={{TOKEN}}` },
  { name: 'list with an invalid token', method: 'GET', path: `${WIDGETS_PATH}?limit=2&continue=abc` },
];
