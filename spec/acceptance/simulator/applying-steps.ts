import type { RequestStep } from './request-step.ts';
import { applied, WIDGETS_PATH } from './step-bodies.ts';

/** Server-side apply: conflicts, force, removed fields and empty values. */
export const APPLYING: readonly RequestStep[] = [
  {
    name: 'apply a missing object',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=one`,
    body: applied('p', { spec: { colour: 'red', parts: [{ name: 'x' }] } }),
  },
  {
    name: 'apply without a manager',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p`,
    body: applied('p', { spec: { colour: 'red' } }),
  },
  {
    name: 'apply as another manager',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=two`,
    body: applied('p', { spec: { colour: 'red', parts: [{ name: 'y', weight: 2 }] } }),
  },
  {
    name: 'apply into a conflict',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=two`,
    body: applied('p', { spec: { colour: 'blue' } }),
  },
  {
    name: 'apply by force',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=two&force=true`,
    body: applied('p', { spec: { colour: 'blue' } }),
  },
  {
    name: 'apply fewer fields',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=one`,
    body: applied('p', { spec: { replicas: 2 } }),
  },
  {
    name: 'apply another version',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=one`,
    body: { ...applied('p', {}), apiVersion: 'example.com/v2' },
  },
  {
    name: 'apply with managed fields',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p?fieldManager=one`,
    body: { ...applied('p', {}), metadata: { name: 'p', managedFields: [{}] } },
  },
  {
    name: 'apply a status',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', {
      status: { selector: 'app=p', conditions: [{ type: 'Ready', status: 'True', reason: 'Fine' }] },
    }),
  },
  {
    name: 'apply an empty text of a status',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', {
      status: { selector: '', conditions: [{ type: 'Ready', status: 'True', reason: 'Fine' }] },
    }),
  },
  {
    name: 'apply an empty text in a list',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { conditions: [{ type: 'Ready', status: 'True', reason: '' }] } }),
  },
  {
    name: 'apply an empty text in a list again',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { conditions: [{ type: 'Ready', status: 'False', reason: '' }] } }),
  },
  {
    name: 'apply a null in a list',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { conditions: [{ type: 'Ready', status: 'True', reason: null }] } }),
  },
  {
    name: 'apply an empty text in an atomic list',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { history: [{ at: 1, note: '' }] } }),
  },
  {
    name: 'apply an empty text in an atomic list again',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { history: [{ at: 2, note: '' }] } }),
  },
  {
    name: 'apply zero, false and empty lists',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { replicas: 0, conditions: [], history: [{ at: 0, note: 'n' }] } }),
  },
  {
    name: 'apply a null',
    method: 'PATCH',
    patch: 'apply',
    path: `${WIDGETS_PATH}/p/status?fieldManager=one`,
    body: applied('p', { status: { replicas: 0, selector: null } }),
  },
];
