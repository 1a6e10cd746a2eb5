import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { humanDuration } from './human-duration.ts';

/** A column of a `meta.k8s.io` Table, as `kubectl get` prints it. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  cell(object: KubernetesObject, nowMs: number): string | number | boolean | null;
}

/** What a cell has that tells nothing. */
export const NONE = '<none>';

/** What every table begins with. */
export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata.name,
};

/** How long ago an object was created. */
export const AGE: Column = {
  name: 'Age',
  type: 'string',
  description: 'CreationTimestamp is the server time when this object was created.',
  priority: 0,
  cell: ({ metadata }, nowMs) => humanDuration(nowMs - Date.parse(metadata.creationTimestamp)),
};

/** A column of text. */
export const text = (name: string, description: string, cell: Column['cell'], priority = 0): Column => ({
  name,
  type: 'string',
  description,
  priority,
  cell,
});

/** A column with a number at a path, or 0. */
export const count = (name: string, description: string, ...path: readonly string[]): Column => ({
  name,
  type: 'integer',
  description,
  priority: 0,
  cell: (object) => numberAt(object, ...path),
});

/** The text at a path, empty where there is nothing. */
export function textAt(object: KubernetesObject, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return value === undefined ? '' : String(value);
}

/** The list at a path, empty where there is none. */
export function listAt(
  object: KubernetesObject,
  ...path: readonly string[]
): readonly Record<string, unknown>[] {
  const value = fieldAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The number at a path, 0 where there is none. */
export function numberAt(object: KubernetesObject, ...path: readonly string[]): number {
  return Number(fieldAt(object, ...path) ?? 0);
}
