import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultGrants, METRICS_SERVER_USER } from '#simulator/access/default-grants.ts';
import { formatKubeconfig } from '#simulator/cluster-files.ts';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';
import { runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';

const NODES = 2;

/** Interval at which files are read again. */
const POLL_INTERVAL_MS = 10_000;

/** Credentials of a server: a kubeconfig and the files that it names. */
interface Credentials {
  /** Writes them to a folder. */
  write(cluster: SimulatedCluster, folder: string): Promise<void>;
  /** Makes the cluster accept only these. */
  accept(cluster: SimulatedCluster): void;
  /** The user of the kubeconfig, with the names of the files. */
  readonly user: object;
}

const KINDS: readonly { readonly what: string; readonly make: (generation: number) => Credentials }[] = [
  { what: 'token', make: token },
  { what: 'client certificate', make: clientCertificate },
];

describe('credentials in files', () => {
  for (const { what, make } of KINDS) {
    it(`are used for the API server and kubelets after the files have the next ${what}`, async () => {
      let folder = '';
      const [first, second] = [make(1), make(2)];
      await using server = await runServer({ nodes: NODES, podsPerNode: 1 }, async (cluster) => {
        folder = cluster.files.directory;
        await first.write(cluster, folder);
        first.accept(cluster);
        const kubeconfig = join(folder, 'files.kubeconfig');
        await writeFile(kubeconfig, kubeconfigOf(cluster, first.user));
        return [`--kubeconfig=${kubeconfig}`, '--metric-resolution=15s'];
      });
      const cycles = await ScrapeCycles.of(server, NODES);
      await cycles.next(NODES);
      await second.write(server.cluster, folder);
      await server.clock.advance(POLL_INTERVAL_MS);
      second.accept(server.cluster);
      server.cluster.apiServer.dropConnections(); // so that watches must be reopened
      for (let cycle = 0; cycle < 3; cycle++) await cycles.next(NODES);
      await server.cluster.removeNode('node-2');
      await cycles.next(NODES - 1);
      expect(await server.names('/apis/metrics.k8s.io/v1beta1/nodes')).to.deep.equal(['node-1']);
      const refusals = server.logger.lines.filter(({ message }) => /\b40[13]\b|Cannot scrape/.test(message));
      expect(refusals).to.deep.equal([]);
      expect((await cycles.counts()).failed).to.equal(0);
    });
  }
});

function token(generation: number): Credentials {
  const text = `token-${generation}`;
  return {
    user: { tokenFile: 'token' },
    write: (_cluster, folder) => writeFile(join(folder, 'token'), text),
    accept: ({ authenticator }) => {
      authenticator.setToken(text, { username: METRICS_SERVER_USER });
      authenticator.revokeToken(`token-${generation - 1}`);
    },
  };
}

/** Each generation has its own user; the previous user loses its permissions, so that use of its certificate fails. */
function clientCertificate(generation: number): Credentials {
  const commonName = `metrics-server-${generation}`;
  return {
    user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    write: async ({ pki }, folder) => {
      const { certificatePem, privateKeyPem } = pki.clientCa.issue({
        subject: { commonName, organizations: [] },
        usages: ['clientAuth'],
      });
      await writeFile(join(folder, 'client.crt'), certificatePem);
      await writeFile(join(folder, 'client.key'), privateKeyPem);
    },
    accept: ({ rbac, scenario }) => {
      for (const grant of defaultGrants(scenario.kubeletAccess)) {
        if (grant.users?.includes(METRICS_SERVER_USER)) rbac.grant({ ...grant, users: [commonName] });
      }
    },
  };
}

function kubeconfigOf({ server, pki }: SimulatedCluster, user: object): string {
  const name = 'metrics-server';
  const serverCaPem = pki.serverCa.certificatePem;
  const config = JSON.parse(
    formatKubeconfig({ server, serverCaPem, user: name, credentials: { token: '' } }),
  );
  return JSON.stringify({ ...config, users: [{ name, user }] });
}
