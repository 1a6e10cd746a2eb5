import { expect } from 'chai';
import { candidateNames, findInHosts, readSearch } from '#lib/dns/resolver-files.ts';

describe('findInHosts', () => {
  const HOSTS = `# comment
127.0.0.1 localhost localhost.localdomain # trailing
::1       localhost ip6-localhost
fd00::7   Node-7
10.0.0.7	node-7 alias
10.0.0.8  node-7
10.0.0.9  NODE-9.Example
not-an-ip nonsense
`;

  it('finds all addresses of a name regardless of case, IPv4 before IPv6, without duplicates', () => {
    const expected = {
      localhost: ['127.0.0.1', '::1'],
      'ip6-localhost': ['::1'],
      'node-7': ['10.0.0.7', '10.0.0.8', 'fd00::7'],
      alias: ['10.0.0.7'],
      'node-9.example': ['10.0.0.9'],
      nonsense: [],
      trailing: [],
      '10.0.0.7': [],
    };
    for (const [name, addresses] of Object.entries(expected))
      expect(findInHosts(`${HOSTS}10.0.0.7 NODE-7`, name), name).to.deep.equal(addresses);
  });
});

describe('readSearch', () => {
  it('reads the search list and ndots of a pod', () => {
    const text =
      'nameserver 10.96.0.10\nsearch ns.svc.cluster.local svc.cluster.local cluster.local.\noptions ndots:5 edns0\n';
    expect(readSearch(text)).to.deep.equal({
      domains: ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
      ndots: 5,
    });
  });

  it('reads a domain as a search list, and ignores unknown keywords and options', () => {
    expect(readSearch('  domain \t example.test   # ours\n').domains).to.deep.equal(['example.test']);
    expect(readSearch('search . a.test\nnameserver b.test').domains).to.deep.equal(['a.test']);
  });

  it('reads ndots of several digits, up to 15, only from options', () => {
    const ndotsOf = (line: string) => readSearch(line).ndots;
    expect(['options ndots:12', 'options ndots:99'].map(ndotsOf)).to.deep.equal([12, 15]);
    const others = ['options xndots:3', 'options ndots:3x', 'search ndots:3', 'ndots:3'];
    expect(others.map(ndotsOf)).to.deep.equal([1, 1, 1, 1]);
  });

  it('defaults to no domains and one dot', () => {
    expect(readSearch('')).to.deep.equal({ domains: [], ndots: 1 });
  });
});

describe('candidateNames', () => {
  const search = { domains: ['a.b', 'c'], ndots: 2 };

  it('tries names with few dots with the domains first', () => {
    expect(candidateNames('node', search)).to.deep.equal(['node.a.b', 'node.c', 'node']);
    expect(candidateNames('node.x', search)).to.deep.equal(['node.x.a.b', 'node.x.c', 'node.x']);
  });

  it('tries names with enough dots as they are first', () => {
    expect(candidateNames('node.x.y', search)).to.deep.equal(['node.x.y', 'node.x.y.a.b', 'node.x.y.c']);
  });

  it('leaves out names that are too long for DNS', () => {
    const max = `${'a.'.repeat(126)}a`;
    expect(candidateNames(max, search)).to.deep.equal([max]);
    expect(candidateNames(`a${max}`, search)).to.deep.equal([]);
  });

  it('treats a name with a final dot as absolute', () => {
    expect(candidateNames('node.', search)).to.deep.equal(['node']);
  });
});
