import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import { readYaml, YamlError } from '../read-yaml.ts';

const TEXT = z.string().nullish();
const CLUSTER = z.object({
  server: z.string(),
  'certificate-authority': TEXT,
  'certificate-authority-data': TEXT,
  'insecure-skip-tls-verify': z.boolean().nullish(),
  'tls-server-name': TEXT,
  'proxy-url': TEXT,
});
const EXEC = z.looseObject({
  command: TEXT,
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});
const USER = z.object({
  'client-certificate': TEXT,
  'client-certificate-data': TEXT,
  'client-key': TEXT,
  'client-key-data': TEXT,
  token: TEXT,
  tokenFile: TEXT,
  username: TEXT,
  password: TEXT,
  as: TEXT,
  exec: EXEC.nullish(),
  'auth-provider': z.looseObject({ config: z.looseObject({ exec: EXEC.nullish() }).nullish() }).nullish(),
});
const CONTEXT = z.object({ cluster: z.string(), user: TEXT });
const KUBECONFIG = z.object({
  'current-context': TEXT,
  contexts: z.array(z.object({ name: z.string(), context: CONTEXT })).nullish(),
  clusters: z.array(z.object({ name: z.string(), cluster: CLUSTER })).nullish(),
  users: z.array(z.object({ name: z.string(), user: USER.nullish() })).nullish(),
});

/** More values of aliases are an attack. */
const MAX_ALIASES = 100;

/** A cluster of a kubeconfig (k8s.io/client-go/tools/clientcmd/api/v1 `Cluster`). */
type KubeconfigCluster = z.output<typeof CLUSTER>;

/** A user of a kubeconfig (`AuthInfo`). */
type KubeconfigUser = z.output<typeof USER>;

/** A plugin that makes credentials (`ExecConfig`). */
export type KubeconfigExec = z.output<typeof EXEC>;

/** Environment of exec plugins. */
export interface KubeconfigEnvironment {
  readonly clock: Clock;
  /** The variables that they inherit. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The current context of a kubeconfig. */
export interface CurrentContext {
  readonly server: URL;
  readonly proxy: URL | undefined;
  readonly clusterName: string;
  readonly cluster: KubeconfigCluster;
  readonly userName: string;
  readonly user: KubeconfigUser;
  /** Base of the kubeconfig's relative paths. */
  readonly directory: string;
}

/**
 * Reads the current context of a kubeconfig.
 *
 * @throws with the cause, and never the content: it may be a credential
 */
export async function readCurrentContext(path: string): Promise<CurrentContext> {
  const kubeconfig = parseKubeconfig(await readFile(path, 'utf8'));
  const name = kubeconfig['current-context'];
  if (!name) throw new Error('no current-context');
  const context = kubeconfig.contexts?.find((one) => one.name === name)?.context;
  if (!context) throw new Error(`current-context "${name}" not found in contexts`);
  const clusterName = context.cluster;
  const cluster = kubeconfig.clusters?.find((one) => one.name === clusterName)?.cluster;
  if (!cluster) throw new Error(`cluster "${clusterName}" of context "${name}" not found`);
  const userName = context.user || 'anonymous';
  const entry = kubeconfig.users?.find((one) => one.name === context.user);
  if (context.user && !entry) throw new Error(`user "${userName}" of context "${name}" not found`);
  const user: KubeconfigUser = entry?.user ?? {};
  if (user.as) throw new Error(`user "${userName}" uses impersonation, which is not supported`);
  const proxyUrl = cluster['proxy-url'];
  return {
    server: urlOf(cluster.server, `server of cluster "${clusterName}"`),
    proxy: proxyUrl ? urlOf(proxyUrl, `proxy-url of cluster "${clusterName}"`) : undefined,
    clusterName,
    cluster,
    userName,
    user,
    directory: dirname(resolve(path)),
  };
}

function parseKubeconfig(text: string): z.output<typeof KUBECONFIG> {
  const document = yamlIn(text);
  if (typeof document !== 'object' || document === null) throw new Error('not a YAML mapping');
  const { data, error } = KUBECONFIG.safeParse(document);
  if (data) return data;
  const where = error.issues[0]?.path.map((key) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`,
  );
  throw new Error(`${where?.join('').replace(/^\./, '')} is missing or has the wrong type`);
}

function yamlIn(text: string): unknown {
  try {
    return readYaml(text, { maxAliasCount: MAX_ALIASES, takesFirst: true });
  } catch (error) {
    throw error instanceof YamlError ? new Error(`invalid YAML: ${error.message}`) : error;
  }
}

/** A URL may contain a password: errors do not quote it. */
function urlOf(text: string, what: string): URL {
  const url = URL.parse(text);
  if (!url) throw new Error(`${what} is not a URL`);
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`${what} must be http or https, not ${url.protocol.slice(0, -1)}`);
  }
  return url;
}
