import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { defaultGrants } from '#simulator/access/default-grants.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';
import { kustomize, type ManifestObject, onlyOf } from '#spec/support/manifest-objects.ts';

describe('manifests/doctor', () => {
  let objects: readonly ManifestObject[];

  before(async () => {
    objects = await kustomize('manifests/doctor');
  });

  it('sets flags that the doctor supports and uses', () => {
    const [container] = onlyOf(objects, 'Job').spec.template.spec.containers;
    const command = parseOptions(container.args);
    expect(command).to.include({ kind: 'doctor' }).and.to.have.deep.property('ignored', []);
  });

  it('grants its account the permissions of every check, and no others', async () => {
    await using server = await startExaminedCluster();
    const { cluster } = server;
    const username = 'system:serviceaccount:kube-system:metrics-server-doctor';
    cluster.authenticator.setToken('doctors-token', { username });
    const [reader] = defaultGrants([]).filter(({ name }) => name === 'metrics-server-auth-reader');
    if (!reader) throw new Error('there is no role to read the config map');
    cluster.rbac.grant({ ...reader, name: 'doctors-reader', users: [username] });
    cluster.rbac.grant({
      name: 'metrics-server-doctor',
      role: 'metrics-server-doctor',
      users: [username],
      rules: onlyOf(objects, 'ClusterRole').rules,
    });
    const kubeconfig = join(cluster.files.directory, 'doctor.kubeconfig');
    await writeFile(kubeconfig, cluster.kubeconfigFor('doctor', { token: 'doctors-token' }));
    const account = '--server-account=system:serviceaccount:kube-system:metrics-server';
    const { isSound, findings } = await examine(server, [`--kubeconfig=${kubeconfig}`, account]);
    expect(findings.filter(({ status }) => status === 'failed' || status === 'unchecked')).to.deep.equal([]);
    expect(isSound).to.equal(true);
  });
});
