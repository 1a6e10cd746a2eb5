import { z } from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { isRecord } from './schema.ts';

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

/** The first column of every table. */
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
export function text(name: string, cell: Column['cell']): Column {
  return { name, type: 'string', description: '', priority: 0, cell };
}

/** The text at a path, empty when it is absent. */
export function textAt(object: KubernetesObject, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path);
  return value === undefined ? '' : String(value);
}

/** The list at a path, empty when it is absent. */
export function listAt(
  object: KubernetesObject,
  ...path: readonly string[]
): readonly Record<string, unknown>[] {
  const value = fieldAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The number at a path, 0 when it is absent. */
export function numberAt(object: KubernetesObject, ...path: readonly string[]): number {
  return Number(fieldAt(object, ...path) ?? 0);
}

type Step =
  | { readonly field: string }
  | { readonly isAll: true }
  | { readonly where: string; readonly equals: string };

// A field, all items, or those of a filter `[?(@.type=="Ready")]`; the alternatives do not overlap.
const STEP = /\.([\w$-]+)|(\[\*\])|\[\?\(@\.([\w-]+)=="([^"]*)"\)\]/y;

/**
 * Parses the subset of JSONPath that printer columns here use: `.spec.env[*].name`,
 * `.status.conditions[?(@.type=="Ready")].status`.
 *
 * @throws Error for any other path
 */
export function parseJsonPath(path: string): (object: unknown) => readonly unknown[] {
  const steps: Step[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (!match) throw new Error(`Cannot read JSON path "${path}" from character ${at} on`);
    const [, field, all, where = '', equals = ''] = match;
    steps.push(field !== undefined ? { field } : all ? { isAll: true } : { where, equals });
  }
  return (object) =>
    steps.reduce<readonly unknown[]>((found, step) => found.flatMap((one) => applyStep(one, step)), [object]);
}

function applyStep(value: unknown, step: Step): readonly unknown[] {
  if ('field' in step) return isRecord(value) && Object.hasOwn(value, step.field) ? [value[step.field]] : [];
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return 'isAll' in step ? items : items.filter((item) => isRecord(item) && item[step.where] === step.equals);
}

/** The cells of one row. */
export function rowOf(columns: readonly Column[], object: KubernetesObject, clock: Clock) {
  return columns.map((column) => column.cell(object, clock.nowMs()));
}

/** Formats an age as `duration.HumanDuration` of k8s.io/apimachinery: two units at most, and only for small ones. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}

export const printerColumn = z.looseObject({
  name: z.string(),
  type: z.string(),
  format: z.string().optional(),
  description: z.string().default(''),
  priority: z.number().default(0),
  jsonPath: z.string(),
});

export function columnOf({
  name,
  type,
  format,
  description,
  priority,
  jsonPath,
}: z.output<typeof printerColumn>): Column {
  const valuesOf = parseJsonPath(
    jsonPath.startsWith('.') || jsonPath.startsWith('[') ? jsonPath : `.${jsonPath}`,
  );
  return {
    name,
    type:
      type === 'date'
        ? 'date'
        : type === 'integer' || type === 'number' || type === 'boolean'
          ? type
          : 'string',
    ...(format === undefined ? {} : { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    cell: (object, nowMs) => cellOf(valuesOf(object), type, nowMs),
  };
}

/** As the real server: several values are joined, and a value of another type than the column's is omitted. */
function cellOf(values: readonly unknown[], type: string, nowMs: number): string | number | boolean | null {
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return Number.isInteger(value) ? (value as number) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      const atMs = Date.parse(String(value));
      return Number.isNaN(atMs) ? '<invalid>' : humanDuration(nowMs - atMs);
    }
    default:
      return values.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(',');
  }
}
