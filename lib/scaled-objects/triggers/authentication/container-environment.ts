import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { LengthBudget } from './length-budget.ts';
import type { AuthenticationReader } from './resolve-authentication.ts';

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

type Container = z.infer<typeof container>;
type Environment = Readonly<Record<string, string>>;

/** The kernel's limit is far lower. */
const MAX_LENGTH = 4 * 1024 * 1024;
const TOO_LONG = `the environment of the target exceeds ${MAX_LENGTH} characters`;

interface References {
  /** Called for each variable; must cache for one object. */
  readonly reader: Pick<AuthenticationReader, 'secretData' | 'configMapData'>;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

interface ContainerEnvironmentsOptions extends References {
  /** Returns any object; one without a pod template has no environment. */
  readonly readWorkload: () => Promise<unknown>;
  /** Default container; the first if absent or empty. */
  readonly container?: string | undefined;
}

/**
 * The environments of a workload's containers by its pod template, without values of running pods. The workload is read and
 * each environment is built once, when first requested.
 *
 * @returns a function that returns the environment of a container, and throws if there is no such container, or if all
 * requested environments together exceed the limit
 */
export function containerEnvironments({
  readWorkload,
  container: usual = '',
  ...references
}: ContainerEnvironmentsOptions): (containerName?: string) => Promise<Environment> {
  const environments = new Map<string, Promise<Environment>>();
  const budget = new LengthBudget(MAX_LENGTH, TOO_LONG); // of all containers, of which a pod template may have many
  let containers: Promise<ReadonlyMap<string, Container> | undefined> | undefined;
  const build = async (containerName: string) => {
    containers ??= readWorkload().then(containersOf);
    const found = await containers;
    if (!found) return {};
    const meant = containerName === '' ? found.values().next().value : found.get(containerName);
    if (!meant) throw new Error(`cannot find container "${containerName}" in the target`);
    return await buildEnvironment(meant, references, budget);
  };
  return async (containerName = usual) => {
    const environment = environments.get(containerName) ?? build(containerName);
    environments.set(containerName, environment);
    return await environment;
  };
}

/** Containers by name, in order; `undefined` for an object without a pod template. */
function containersOf(workload: unknown): ReadonlyMap<string, Container> | undefined {
  const read = WORKLOAD.safeParse(workload);
  if (!read.success) return undefined;
  return new Map(read.data.spec.template.spec.containers.map((one) => [one.name, one]));
}

async function buildEnvironment(
  { envFrom = [], env = [] }: Container,
  { reader, namespace, signal }: References,
  budget: LengthBudget,
): Promise<Environment> {
  const environment = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const data = configMapRef?.name
      ? await reader.configMapData(namespace, configMapRef.name, signal)
      : secretRef?.name
        ? await reader.secretData(namespace, secretRef.name, signal)
        : undefined;
    for (const [key, value] of Object.entries(data ?? {})) take(prefix + key, value);
  }
  for (const { name, value, valueFrom } of env) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (valueFrom === undefined) take(name, expand(value ?? '', environment, budget));
    else if (configMapKeyRef?.name) {
      const data = await reader.configMapData(namespace, configMapKeyRef.name, signal);
      take(name, getOwn(data, configMapKeyRef.key));
    } else if (secretKeyRef?.name)
      take(name, getOwn(await reader.secretData(namespace, secretKeyRef.name, signal), secretKeyRef.key));
  }
  return Object.fromEntries(environment);

  function take(name: string, value: string | undefined): void {
    if (value === undefined) return;
    budget.spend(name.length + value.length);
    environment.set(name, value);
  }
}

const REFERENCE = /\$\$|\$\(([^()$]+)\)/g;

/**
 * Replaces `$(NAME)` by earlier variables, and `$$` by `$`, as the kubelet does.
 *
 * @throws before the result exceeds the budget
 */
function expand(value: string, environment: ReadonlyMap<string, string>, budget: LengthBudget): string {
  let length = value.length;
  return value.replace(REFERENCE, (whole, name: string | undefined) => {
    const put = name === undefined ? '$' : (environment.get(name) ?? whole);
    length += put.length;
    budget.check(length);
    return put;
  });
}
