import { PATCH_TYPES } from '#spec/support/plain-client.ts';
import type { RequestStep, SendRequest, StepResult } from './request-step.ts';

/**
 * Sends the requests in order, and returns the responses by step name.
 *
 * @param variables values for `{{VARIABLE}}` in paths and bodies
 */
export async function runSteps(
  steps: readonly RequestStep[],
  send: SendRequest,
  variables: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, StepResult>> {
  const retained = new Map<string, string>(Object.entries(variables));
  const results = new Map<string, StepResult>();
  for (const step of steps) {
    const { status, body } = await send({
      method: step.method,
      path: filled(step.path, retained),
      body: step.body === undefined ? undefined : filled(JSON.stringify(step.body), retained),
      headers: {
        Accept: step.accept ?? 'application/json',
        'User-Agent': 'spec/1',
        'Content-Type': step.patch ? PATCH_TYPES[step.patch] : 'application/json',
      },
    });
    const lines = body.split('\n').filter((line) => line !== '');
    const isWatch = step.path.includes('watch=true');
    const parsed: unknown = isWatch ? lines.map((line) => JSON.parse(line)) : parse(body);
    for (const [variable, path] of Object.entries(step.keep ?? {})) {
      const found = path.reduce<unknown>(
        (at, key) => (at as Record<string, unknown> | undefined)?.[key],
        parsed,
      );
      retained.set(variable, String(found));
    }
    results.set(step.name, { status, body: withoutChance(parsed) });
  }
  return results;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function filled(text: string, retained: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => retained.get(name) ?? `no ${name}`);
}

/**
 * Fields that are not compared. `selfLink` was removed in 1.20. In `managedFields`, 1.20 treats lists of custom
 * resources as atomic, and lists maps in addition to their fields; the effects (conflicts, removed fields) are
 * compared. Descriptions of columns are shorter in the simulator.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['selfLink', 'managedFields', 'description']);

const BY_CHANCE: Readonly<Record<string, string>> = {
  uid: 'UID',
  resourceVersion: 'VERSION',
  creationTimestamp: 'TIME',
  deletionTimestamp: 'TIME',
  time: 'TIME',
  continue: 'TOKEN',
};

/**
 * Removes values that differ between any two servers: times, UIDs, resource versions, tokens, and suffixes of generated
 * names.
 */
function withoutChance(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => withoutChance(item));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name));
    return Object.fromEntries(entries.sort().map(([name, one]) => [name, withoutChance(one, name)]));
  }
  const stand = BY_CHANCE[key];
  if (stand !== undefined && value !== null && value !== '') return stand;
  return typeof value === 'string' ? withoutChanceIn(value) : value;
}

function withoutChanceIn(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/\bgenerated-[a-z0-9]{5}\b/g, 'generated-RANDOM')
    .replace(/(resource version: )\d+( \(\d+\))?/g, '$1VERSION')
    .replace(/^\d+s$/, 'AGE');
}
