import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultGrants, METRICS_SERVER_USER } from '#simulator/access/default-grants.ts';
import { formatKubeconfig } from '#simulator/cluster-files.ts';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';
import { runServer } from '#spec/support/running-server.ts';
import { ScrapeCycles } from '#spec/support/scrape-cycles.ts';

const NODES = 2;

/** Files are shown this often. */
const LOOK_MS = 10_000;

/** What a server shows of itself: a kubeconfig and the files that it names. */
interface Credentials {
  /** Written to a folder. */
  write(cluster: SimulatedCluster, folder: string): Promise<void>;
  /** Gets the cluster to take these and no others. */
  accept(cluster: SimulatedCluster): void;
  /** The user of the kubeconfig, as it names the files. */
  readonly user: object;
}

const KINDS: readonly { readonly what: string; readonly make: (generation: number) => Credentials }[] = [
  { what: 'token', make: token },
  { what: 'client certificate', make: clientCertificate },
];

describe('credentials in files', () => {
  for (const { what, make } of KINDS) {
    it(`are the next ${what} for the API server and kubelets, once the files have it`, async () => {
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
      await server.clock.advance(LOOK_MS);
      second.accept(server.cluster);
      server.cluster.apiServer.dropConnections(); // so that watches have to be opened again
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

/** Of a user of its own, so that it shows whether the previous one is still in use: that user may nothing any more. */
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
