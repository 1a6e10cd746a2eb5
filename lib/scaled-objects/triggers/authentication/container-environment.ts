import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';

const reference = z.object({
  name: z.string().optional(),
  key: z.string(),
  optional: z.boolean().optional(),
});
const from = z.object({ name: z.string().optional(), optional: z.boolean().optional() });
const container = z.object({
  name: z.string(),
  envFrom: z
    .array(
      z.object({ prefix: z.string().optional(), configMapRef: from.optional(), secretRef: from.optional() }),
    )
    .optional(),
  env: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z
          .object({ configMapKeyRef: reference.optional(), secretKeyRef: reference.optional() })
          .optional(),
      }),
    )
    .optional(),
});

const WORKLOAD = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(container) }) }) }),
});

/** Of all names and values: variables in variables multiply, and the kernel passes no more to a program, by far. */
const MOST_LENGTH = 4 * 1024 * 1024;

/** Reads what environments refer to; `undefined` where there is none. */
export interface EnvironmentReader {
  secretData(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  configMapData(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/**
 * The environment of a container as a workload's pod template says it, without what only a running pod knows.
 *
 * @param workload any object; one without a pod template has no environment
 * @param containerName empty for the first
 * @param reader for one object: every variable asks it for what it refers to
 * @throws where there is no such container, or its environment is larger than it may be
 */
export async function containerEnvironment(
  workload: unknown,
  containerName: string,
  reader: EnvironmentReader,
): Promise<Readonly<Record<string, string>>> {
  const read = WORKLOAD.safeParse(workload);
  if (!read.success) return {};
  const { containers } = read.data.spec.template.spec;
  const meant = containerName === '' ? containers[0] : containers.find(({ name }) => name === containerName);
  if (!meant) throw new Error(`cannot find container "${containerName}" in the target`);
  const environment = new Map<string, string>();
  let length = 0;
  for (const { prefix = '', configMapRef, secretRef } of meant.envFrom ?? []) {
    const data = configMapRef?.name
      ? await reader.configMapData(configMapRef.name)
      : secretRef?.name
        ? await reader.secretData(secretRef.name)
        : undefined;
    for (const [key, value] of Object.entries(data ?? {})) take(prefix + key, value);
  }
  for (const { name, value, valueFrom } of meant.env ?? []) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (valueFrom === undefined) take(name, expand(value ?? '', environment));
    else if (configMapKeyRef?.name)
      take(name, getOwn(await reader.configMapData(configMapKeyRef.name), configMapKeyRef.key));
    else if (secretKeyRef?.name)
      take(name, getOwn(await reader.secretData(secretKeyRef.name), secretKeyRef.key));
  }
  return Object.fromEntries(environment);

  function take(name: string, value: string | undefined): void {
    if (value === undefined) return;
    length += name.length + value.length;
    if (!(length <= MOST_LENGTH)) throw tooLong();
    environment.set(name, value);
  }
}

function tooLong(): Error {
  return new Error(`the environment of the target is longer than ${MOST_LENGTH} characters`);
}

const REFERENCE = /\$\$|\$\(([^()$]+)\)/g;

/**
 * Puts variables that are known already where `$(NAME)` stands; `$$` is one `$`.
 *
 * @throws before it makes what is too long
 */
function expand(value: string, environment: ReadonlyMap<string, string>): string {
  let length = value.length;
  return value.replace(REFERENCE, (whole, name: string | undefined) => {
    const put = name === undefined ? '$' : (environment.get(name) ?? whole);
    length += put.length;
    if (!(length <= MOST_LENGTH)) throw tooLong();
    return put;
  });
}
