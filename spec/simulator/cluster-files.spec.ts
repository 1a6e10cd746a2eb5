import { expect } from 'chai';
import { parse } from 'yaml';
import { formatKubeconfig } from '#simulator/cluster-files.ts';

describe('formatKubeconfig', () => {
  const facts = { server: 'https://127.0.0.1:6443', serverCaPem: 'CA', user: 'alice' };

  it('contains its certificates', () => {
    const credentials = { certificatePem: 'CERT', privateKeyPem: 'KEY' };
    const { clusters, users } = parse(formatKubeconfig({ ...facts, credentials }));
    expect(clusters[0].cluster).to.deep.equal({
      server: 'https://127.0.0.1:6443',
      'certificate-authority-data': 'Q0E=',
    });
    expect(users[0].user).to.deep.equal({
      'client-certificate-data': 'Q0VSVA==',
      'client-key-data': 'S0VZ',
    });
  });

  it('points its current context at user and cluster', () => {
    const config = parse(formatKubeconfig({ ...facts, credentials: { token: 'secret' } }));
    const [{ name, context }] = config.contexts;
    expect(config['current-context']).to.equal(name);
    expect(context).to.deep.equal({ cluster: config.clusters[0].name, user: 'alice' });
    expect(config.users[0].user).to.deep.equal({ token: 'secret' });
  });
});
