import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClusterPki,
  createClusterPki,
  type KeyedCertificate,
} from '#simulator/access/certificate-authority.ts';
import { formatKubeconfig } from '#simulator/cluster-files.ts';
import { freePort } from '#spec/support/free-port.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { recordRequests } from '../permissions/recorded-requests.ts';
import { type AuditEvent, parseAuditLog } from './audit-log.ts';
import { ControlPlaneClient } from './control-plane-client.ts';
import { apiServerFlags, controllerManagerFlags } from './control-plane-flags.ts';
import type { ControlPlaneBinaries } from './find-binaries.ts';

/** The API server creates these namespaces shortly after it reports ready. */
const READY_PATHS = ['/readyz', '/api/v1/namespaces/default', '/api/v1/namespaces/kube-system'];
const READY_WITHIN_MS = 120_000;

interface ApiGroup {
  readonly versions: readonly { readonly version: string }[];
}

/**
 * A real control plane on loopback: etcd, kube-apiserver with the aggregation layer and an audit log, and
 * kube-controller-manager with an HPA controller that has shorter delays than in production.
 */
export class ControlPlane implements AsyncDisposable {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  readonly port: number;
  /** Issues kubelet certificates signed by the cluster's CA, as with `serverTLSBootstrap`. */
  readonly pki: ClusterPki;
  /** Contains all files of the control plane; removed with it. */
  readonly folder: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Client of the administrator. */
  readonly client: ControlPlaneClient;
  /** Newest served HPA version with metrics: v2 since Kubernetes 1.23, v2beta2 before. */
  hpaVersion: 'autoscaling/v2' | 'autoscaling/v2beta2' = 'autoscaling/v2';
  /** Minor version of Kubernetes: 36 for 1.36.2. */
  minor = 0;
  readonly #etcdUrl: string;
  readonly #programs: AsyncDisposableStack;
  #apiServer: { readonly start: () => Promise<void>; readonly program: SpawnedProgram } | undefined;
  #controllerManager: { readonly binary: string; readonly program: SpawnedProgram } | undefined;

  private constructor(facts: {
    port: number;
    pki: ClusterPki;
    folder: string;
    etcdUrl: string;
    programs: AsyncDisposableStack;
  }) {
    this.port = facts.port;
    this.server = `https://127.0.0.1:${facts.port}`;
    this.pki = facts.pki;
    this.folder = facts.folder;
    this.kubeconfig = join(facts.folder, 'admin.kubeconfig');
    this.client = this.clientFor(facts.pki.admin);
    this.#etcdUrl = facts.etcdUrl;
    this.#programs = facts.programs;
  }

  /** @throws Error with the last output of a program that does not start */
  static async start(binaries: ControlPlaneBinaries): Promise<ControlPlane> {
    await using starting = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'control-plane-'));
    starting.defer(() => rm(folder, { recursive: true, force: true }));
    const pki = clusterPki();
    await writeFiles(folder, pki);
    const [etcdPort, port] = [await freePort(), await freePort()];

    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    starting.use(
      new SpawnedProgram(
        binaries.etcd,
        [
          `--data-dir=${join(folder, 'etcd')}`,
          `--listen-client-urls=${etcdUrl}`,
          `--advertise-client-urls=${etcdUrl}`,
          `--listen-peer-urls=http://127.0.0.1:${await freePort()}`,
        ],
        { name: 'etcd' },
      ),
    );
    const programs = new AsyncDisposableStack();
    const controlPlane = new ControlPlane({ port, pki, folder, etcdUrl, programs });
    starting.defer(() => controlPlane.#apiServer?.program[Symbol.asyncDispose]());
    await writeFile(controlPlane.kubeconfig, controlPlane.kubeconfigFor('admin', pki.admin), { mode: 0o600 });
    await controlPlane.#startApiServer(binaries.apiServer, apiServerFlags({ folder, port, etcdUrl }));
    const { minor } = await controlPlane.client.get<{ readonly minor: string }>('/version');
    controlPlane.minor = Number.parseInt(minor, 10);
    const { versions } = await controlPlane.client.get<ApiGroup>('/apis/autoscaling');
    if (!versions.some(({ version }) => version === 'v2')) controlPlane.hpaVersion = 'autoscaling/v2beta2';
    if (binaries.controllerManager) {
      await writeFile(
        join(folder, 'controller-manager.kubeconfig'),
        controlPlane.kubeconfigFor(
          'system:kube-controller-manager',
          pki.clientCa.issue({
            subject: { commonName: 'system:kube-controller-manager' },
            usages: ['clientAuth'],
          }),
        ),
        { mode: 0o600 },
      );
      await controlPlane.#startControllerManager(binaries.controllerManager, { scalesHpas: true });
    }
    controlPlane.#programs.use(starting.move());
    return controlPlane;
  }

  /** Restarts the controller manager without the HPA controller. */
  async leaveHpasAlone(): Promise<void> {
    const running = this.#controllerManager;
    if (!running) throw new Error('There is no controller manager');
    await running.program[Symbol.asyncDispose]();
    await this.#startControllerManager(running.binary, { scalesHpas: false });
  }

  /** Makes earlier resource versions too old: compacts etcd, and restarts the API server with empty watch caches. */
  async compact(): Promise<void> {
    const running = this.#apiServer;
    if (!running) throw new Error('There is no API server');
    await running.program[Symbol.asyncDispose]();
    const anyKey = await this.#etcd<{ readonly header: { readonly revision: string } }>('range', {
      key: 'AA==',
    });
    await this.#etcd('compaction', { revision: anyKey.header.revision, physical: true });
    await running.start();
  }

  /** Path of an overlay for this Kubernetes version: some overlays have a variant for 1.20. */
  overlay(name: string): string {
    const old = `manifests/overlays/${name}-1.20`;
    return this.minor < 21 && existsSync(old) ? old : `manifests/overlays/${name}`;
  }

  /** Client of the user named by the certificate. */
  clientFor({ certificatePem: cert, privateKeyPem: key }: KeyedCertificate): ControlPlaneClient {
    return new ControlPlaneClient(this.server, { ca: this.pki.serverCa.certificatePem, cert, key });
  }

  /** Formats a kubeconfig for a user with the given credentials. */
  kubeconfigFor(user: string, credentials: KeyedCertificate | { readonly token: string }): string {
    return formatKubeconfig({
      server: this.server,
      serverCaPem: this.pki.serverCa.certificatePem,
      user,
      credentials,
    });
  }

  /** Requests that the API server has received so far, with client and decision. */
  async auditEvents(): Promise<readonly AuditEvent[]> {
    const log = await readFile(join(this.folder, 'audit.log'), 'utf8').catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return ''; // the API server creates the file with its first event
        throw error;
      },
    );
    return parseAuditLog(log);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { RECORDED_REQUESTS: folder } = process.env;
    if (folder) await recordRequests(folder, await this.auditEvents());
    await this.#controllerManager?.program[Symbol.asyncDispose]();
    await this.#programs.disposeAsync();
  }

  async #startApiServer(binary: string, flags: readonly string[]): Promise<void> {
    const program = new SpawnedProgram(binary, flags, { name: 'kube-apiserver' });
    this.#apiServer = { program, start: () => this.#startApiServer(binary, flags) };
    await this.#untilReady(program);
  }

  async #etcd<Response>(method: string, body: object): Promise<Response> {
    const response = await fetch(`${this.#etcdUrl}/v3/kv/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`Cannot have etcd do ${method}: ${await response.text()}`);
    return (await response.json()) as Response;
  }

  async #startControllerManager(
    binary: string,
    { scalesHpas }: { readonly scalesHpas: boolean },
  ): Promise<void> {
    const hasInsecurePort = this.minor < 24;
    const flags = controllerManagerFlags(this.folder, {
      port: await freePort(),
      hasInsecurePort,
      scalesHpas,
    });
    const program = new SpawnedProgram(binary, flags, { name: 'kube-controller-manager' });
    this.#controllerManager = { binary, program };
  }

  async #untilReady(apiServer: SpawnedProgram): Promise<void> {
    const deadlineMs = Date.now() + READY_WITHIN_MS;
    const ended = apiServer.ended.then(() => true);
    for (;;) {
      const { certificatePem: cert, privateKeyPem: key } = this.pki.admin;
      const options = { ca: this.pki.serverCa.certificatePem, cert, key };
      const responds = await Promise.all(
        READY_PATHS.map((path) =>
          requestHttps(`${this.server}${path}`, options).then(
            ({ status }) => status === 200,
            () => false,
          ),
        ),
      );
      if (responds.every(Boolean)) return;
      const hasEnded = await Promise.race([ended, sleep(200, false)]);
      if (hasEnded || Date.now() > deadlineMs) {
        throw new Error(`kube-apiserver did not become ready:\n${apiServer.output.slice(-20).join('\n')}`);
      }
    }
  }
}

function clusterPki(): ClusterPki {
  const pki = createClusterPki(['127.0.0.1']);
  return { ...pki, kubeletCa: pki.serverCa };
}

async function writeFiles(folder: string, pki: ClusterPki): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const files = {
    'server-ca.crt': pki.serverCa.certificatePem,
    'client-ca.crt': pki.clientCa.certificatePem,
    'front-proxy-ca.crt': pki.frontProxyCa.certificatePem,
    'apiserver.crt': pki.apiServer.certificatePem,
    'apiserver.key': pki.apiServer.privateKeyPem,
    'front-proxy.crt': pki.frontProxy.certificatePem,
    'front-proxy.key': pki.frontProxy.privateKeyPem,
    'service-account.key': privateKey,
    'service-account.pub': publicKey,
    'audit-policy.yaml': AUDIT_POLICY,
  };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, name), text, { mode: 0o600 });
}

/** One event per request: client, request and decision. */
const AUDIT_POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts:kube-system"]
  - level: None
`;
