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

type Container = z.infer<typeof container>;
type Environment = Readonly<Record<string, string>>;

/** Of all names and values: variables in variables multiply, and the kernel passes no more to a program, by far. */
const MAX_LENGTH = 4 * 1024 * 1024;

/** Reads what environments refer to; `undefined` where there is none. */
export interface EnvironmentReader {
  secretData(name: string): Promise<Readonly<Record<string, string>> | undefined>;
  configMapData(name: string): Promise<Readonly<Record<string, string>> | undefined>;
}

interface ContainerEnvironmentsOptions {
  /** Reads any object; one without a pod template has no environment. */
  readonly readWorkload: () => Promise<unknown>;
  /** The container that counts where none is named; by default, and where it is empty, the first. */
  readonly container?: string | undefined;
  /** For one object: every variable asks it for what it refers to. */
  readonly reader: EnvironmentReader;
}

/**
 * The environments of a workload's containers as its pod template has them, without what only a running pod knows. The
 * workload is read, and each environment built, once and only where it is requested.
 *
 * @returns builds that of a container; throws where there is no such container, or all that were requested are together
 * larger than they may be
 */
export function containerEnvironments({
  readWorkload,
  container: usual = '',
  reader,
}: ContainerEnvironmentsOptions): (containerName?: string) => Promise<Environment> {
  const environments = new Map<string, Promise<Environment>>();
  const budget = new LengthBudget();
  let containers: Promise<ReadonlyMap<string, Container> | undefined> | undefined;
  const build = async (containerName: string) => {
    containers ??= readWorkload().then(containersOf);
    const found = await containers;
    if (!found) return {};
    const meant = containerName === '' ? found.values().next().value : found.get(containerName);
    if (!meant) throw new Error(`cannot find container "${containerName}" in the target`);
    return await buildEnvironment(meant, reader, budget);
  };
  return async (containerName = usual) => {
    const environment = environments.get(containerName) ?? build(containerName);
    environments.set(containerName, environment);
    return await environment;
  };
}

/** The containers of a pod template by name, in their order; `undefined` for what has no pod template. */
function containersOf(workload: unknown): ReadonlyMap<string, Container> | undefined {
  const read = WORKLOAD.safeParse(workload);
  if (!read.success) return undefined;
  return new Map(read.data.spec.template.spec.containers.map((one) => [one.name, one]));
}

async function buildEnvironment(
  { envFrom = [], env = [] }: Container,
  reader: EnvironmentReader,
  budget: LengthBudget,
): Promise<Environment> {
  const environment = new Map<string, string>();
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const data = configMapRef?.name
      ? await reader.configMapData(configMapRef.name)
      : secretRef?.name
        ? await reader.secretData(secretRef.name)
        : undefined;
    for (const [key, value] of Object.entries(data ?? {})) take(prefix + key, value);
  }
  for (const { name, value, valueFrom } of env) {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
    if (valueFrom === undefined) take(name, expand(value ?? '', environment, budget));
    else if (configMapKeyRef?.name)
      take(name, getOwn(await reader.configMapData(configMapKeyRef.name), configMapKeyRef.key));
    else if (secretKeyRef?.name)
      take(name, getOwn(await reader.secretData(secretKeyRef.name), secretKeyRef.key));
  }
  return Object.fromEntries(environment);

  function take(name: string, value: string | undefined): void {
    if (value === undefined) return;
    budget.spend(name.length + value.length);
    environment.set(name, value);
  }
}

/** What the environments of one target may still take: one that a pod template multiplies is as long as its containers are many. */
class LengthBudget {
  #left = MAX_LENGTH;

  /** @throws where more is to be spent than is left; then nothing is left */
  spend(length: number): void {
    this.check(length);
    this.#left -= length;
  }

  /** @throws as {@link spend} */
  check(length: number): void {
    if (length <= this.#left) return;
    this.#left = 0;
    throw new Error(`the environment of the target is longer than ${MAX_LENGTH} characters`);
  }
}

const REFERENCE = /\$\$|\$\(([^()$]+)\)/g;

/**
 * Puts variables that are known already where `$(NAME)` stands; `$$` is one `$`.
 *
 * @throws before it makes what is too long
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
