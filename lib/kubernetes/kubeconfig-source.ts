import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod/mini';
import type { ClusterCredentials, ClusterSource, ClusterTls } from './cluster-access.ts';
import { endPluginWith, pluginFault } from './credential-plugin.ts';
import { unlessAborted } from './unless-aborted.ts';

/**
 * Reaches the API server as the current context of a kubeconfig says: certificates, tokens, token files, basic
 * authentication, exec plugins and an HTTP proxy.
 *
 * @throws naming the file, the context and what is wrong with them
 */
export async function kubeconfigSource(path: string): Promise<ClusterSource> {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new Error(`Cannot use kubeconfig ${path}`, { cause: error });
    }
  };
  const { server, proxy, cluster, user, tokenFile } = await named(readCurrentContext(path));
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromClusterAndUser(allowPlainHttp(cluster), user);
  let ending = new AbortController().signal;
  endPluginWith(kubeconfig, () => ending);
  const load = async (signal: AbortSignal): Promise<ClusterCredentials> => {
    ending = signal;
    const credentials = await unlessAborted(loadCredentials(kubeconfig, cluster, user), signal);
    if (tokenFile === undefined) return credentials;
    return { ...credentials, authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` };
  };
  return { server, proxy, load: (signal) => named(load(signal)) };
}

interface CurrentContext {
  readonly server: URL;
  readonly proxy: URL | undefined;
  readonly cluster: Cluster;
  readonly user: User;
  /** Counts more than the user's token, as in client-go. */
  readonly tokenFile: string | undefined;
}

async function readCurrentContext(path: string): Promise<CurrentContext> {
  const text = await readFile(path, 'utf8');
  const document = readYaml(text);
  if (typeof document !== 'object' || document === null) throw new Error('it is no YAML mapping');
  const directory = dirname(resolve(path));
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromString(text);
  kubeconfig.makePathsAbsolute(directory);
  const name = kubeconfig.currentContext;
  if (!name) throw new Error('it has no current-context');
  const context = kubeconfig.getContextObject(name);
  if (!context) throw new Error(`its current-context "${name}" is not among its contexts`);
  const cluster = kubeconfig.getCluster(context.cluster);
  if (!cluster) throw new Error(`context "${name}" names cluster "${context.cluster}", which is not there`);
  const user = context.user ? kubeconfig.getUser(context.user) : { name: 'anonymous' };
  if (!user) throw new Error(`context "${name}" names user "${context.user}", which is not there`);
  if (user.impersonateUser)
    throw new Error(`user "${user.name}" impersonates another, which is not supported`);
  return {
    server: urlOf(cluster.server, `server of cluster "${cluster.name}"`),
    proxy: cluster.proxyUrl ? urlOf(cluster.proxyUrl, `proxy-url of cluster "${cluster.name}"`) : undefined,
    cluster,
    user,
    tokenFile: tokenFileOf(user, document, directory),
  };
}

/** Says where a text is no YAML, and never what stands there: it may be a credential. */
function readYaml(text: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
  const [fault] = document.errors;
  if (!fault) return document.toJS();
  const { line } = lineCounter.linePos(fault.pos[0]);
  throw new Error(`it is no YAML: ${fault.code.toLowerCase().replaceAll('_', ' ')} in line ${line}`);
}

const TOKEN_FILES = z.object({
  users: z.array(
    z.object({ name: z.string(), user: z.nullish(z.object({ tokenFile: z.optional(z.string()) })) }),
  ),
});

/** The library does not know `tokenFile`, and its own way of reading one goes by an older token for a minute. */
function tokenFileOf({ name }: User, document: object, directory: string): string | undefined {
  const { users } = z.catch(TOKEN_FILES, { users: [] }).parse(document);
  const file = users.find((one) => one.name === name)?.user?.tokenFile;
  return file ? resolve(directory, file) : undefined;
}

/** The library refuses plain HTTP to a server whose certificate would be verified; kubectl does not. */
function allowPlainHttp(cluster: Cluster): Cluster {
  return cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster;
}

/** A URL may have a password in it: what is wrong is told without it. */
function urlOf(text: string, what: string): URL {
  const url = URL.parse(text);
  if (!url) throw new Error(`the ${what} is no URL`);
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`the ${what} must be http or https, not ${url.protocol.slice(0, -1)}`);
  }
  return url;
}

async function loadCredentials(
  kubeconfig: KubeConfig,
  cluster: Cluster,
  user: User,
): Promise<ClusterCredentials> {
  const options: RequestOptions = {};
  try {
    await kubeconfig.applyToHTTPSOptions(options);
  } catch (error) {
    throw user.exec ? pluginFault(error) : error;
  }
  const tls: ClusterTls = {
    ca: textOf(options.ca),
    cert: textOf(options.cert),
    key: textOf(options.key),
    servername: cluster.tlsServerName || undefined,
    rejectUnauthorized: !cluster.skipTLSVerify,
  };
  verifyPem(tls, user);
  return { tls, authorization: authorizationOf(options) };
}

function authorizationOf({ auth, headers }: RequestOptions): string | undefined {
  const header = headers && 'Authorization' in headers ? headers.Authorization : undefined;
  if (typeof header === 'string') return header.trim();
  return auth ? `Basic ${Buffer.from(auth).toString('base64')}` : undefined;
}

function textOf(value: RequestOptions['ca'] | RequestOptions['key']): string | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.toString() : undefined;
}

/** Says at once, and of whom, what every later connection would fail with. */
function verifyPem({ ca, cert, key }: ClusterTls, user: User): void {
  try {
    createSecureContext({ ca, cert, key });
  } catch (error) {
    const whose = user ? ` of user "${user.name}"` : '';
    throw new Error(`the authorities or the client certificate and key${whose} are no valid PEM`, {
      cause: error,
    });
  }
}
