import type { RequestStep } from './request-step.ts';
import { WIDGETS_PATH, widget } from './step-bodies.ts';

/** Creation: accepted objects, defaulting and rejected objects. */
export const CREATING: readonly RequestStep[] = [
  {
    name: 'create',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('a'),
    keep: { FIRST: ['metadata', 'resourceVersion'], UID: ['metadata', 'uid'] },
  },
  { name: 'create an existing object', method: 'POST', path: WIDGETS_PATH, body: widget('a') },
  {
    name: 'create with a generated name',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('', { colour: 'blue' }, { generateName: 'generated-', labels: { made: 'so' } }),
  },
  { name: 'create without a name', method: 'POST', path: WIDGETS_PATH, body: widget('') },
  { name: 'create with an invalid name', method: 'POST', path: WIDGETS_PATH, body: widget('No Name') },
  {
    name: 'create in another namespace than the path',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', undefined, { namespace: 'kube-system' }),
  },
  {
    name: 'create with a version',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', undefined, { resourceVersion: '1' }),
  },
  {
    // One violation per step, because the real server lists several in varying order.
    name: 'create with a value that is not listed',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', { colour: 'green' }),
  },
  {
    name: 'create with a value beyond its maximum',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', { colour: 'red', replicas: 11 }),
  },
  {
    name: 'create with a wrong type',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', { colour: 'red', replicas: 'x' }),
  },
  { name: 'create without a required field', method: 'POST', path: WIDGETS_PATH, body: widget('b', {}) },
  {
    name: 'create with defaults in a list',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('b', { colour: 'red', parts: [{ name: 'x' }, { name: 'y', weight: 1 }] }),
  },
  {
    name: 'create with unknown fields',
    method: 'POST',
    path: WIDGETS_PATH,
    body: { ...widget('c', { colour: 'red', unknown: 1, anything: { kept: 1 } }), other: 1 },
  },
  {
    name: 'create with a status',
    method: 'POST',
    path: WIDGETS_PATH,
    body: { ...widget('d'), status: { replicas: 4 } },
  },
  {
    name: 'create with nulls',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('nulls', { colour: 'red', tags: null, replicas: null, note: null }),
  },
  {
    name: 'create a repeated key of a list',
    method: 'POST',
    path: WIDGETS_PATH,
    body: widget('e', { colour: 'red', parts: [{ name: 'x' }, { name: 'x' }] }),
  },
  { name: 'create in a dry run', method: 'POST', path: `${WIDGETS_PATH}?dryRun=All`, body: widget('tried') },
  { name: 'get the object of the dry run', method: 'GET', path: `${WIDGETS_PATH}/tried` },
  {
    name: 'create another kind',
    method: 'POST',
    path: WIDGETS_PATH,
    body: { ...widget('e'), kind: 'Gadget' },
  },
];
