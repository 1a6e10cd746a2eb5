import { expect } from 'chai';
import {
  type JetstreamConsumer,
  jetstreamLag,
  readJetstream,
} from '#lib/sources/http-apis/jetstream-consumer.ts';
import { errorOf } from '#spec/support/error-of.ts';

const { signal } = new AbortController();
const DESIRED = { account: 'A', stream: 's', consumer: 'c' };

describe('readJetstream', () => {
  const read = (body: object) => readJetstream(Buffer.from(JSON.stringify(body)), DESIRED);

  it('finds the consumer of the stream by the name or ID of the account', () => {
    const others = [account({ name: 'B' }, [['s', 'c', 1]])];
    const streams = [
      ['r', 'c', 2],
      ['s', 'b', 3],
    ] as const;
    for (const named of [{ name: 'A' }, { id: 'A', name: 'other' }]) {
      const mine = account(named, [...streams, ['s', 'c', 4]]);
      expect(read({ account_details: [...others, mine] }).consumer().num_pending).to.equal(4);
    }
  });

  it('reports what is missing', () => {
    for (const body of [{}, { account_details: [account({ name: 'B' }, [['s', 'c', 1]])] }])
      expect(read(body).consumer).to.throw('stream not found');
    expect(read({ account_details: [account({ name: 'A' }, [['r', 'c', 1]])] }).consumer).to.throw(
      'stream not found',
    );
    const withoutConsumers = { name: 'A', stream_detail: [{ name: 's' }] };
    for (const mine of [withoutConsumers, account({ name: 'A' }, [['s', 'b', 1]])])
      expect(read({ account_details: [mine] }).consumer).to.throw('consumer "c" not found in stream "s"');
  });

  it('treats two servers as a cluster, and one as standalone', () => {
    const isClustered = (meta_cluster?: object) =>
      read({ ...(meta_cluster && { meta_cluster }) }).isClustered;
    expect([isClustered(), isClustered({}), isClustered({ cluster_size: 1 })]).to.deep.equal([
      ...[false, false, false],
    ]);
    expect(isClustered({ cluster_size: 2 })).to.equal(true);
  });
});

describe('jetstreamLag', () => {
  const single = { account_details: [account({ name: 'A' }, [['s', 'c', 4, 2]])] };
  const clustered = (leader: string, pending: number) => ({
    meta_cluster: { cluster_size: 3 },
    account_details: [account({ name: 'A' }, [['s', 'c', pending, 0]], leader)],
  });

  it('adds what was not sent yet and what was not acknowledged', async () => {
    const { query, requested } = system({ 'nats.example:8222': { jsz: single } });
    expect(await query.run(signal)).to.deep.equal([{ value: 6, labels: {} }]);
    expect(requested).to.deep.equal(['nats.example:8222/jsz?acc=A&config=true&consumers=true']);
    expect(query).to.include({
      ...{ source: 'nats.example:8222', description: 'lag of consumer c of stream s at nats.example:8222' },
    });
  });

  it('queries the server that leads the consumer, and that one first afterwards', async () => {
    const servers: Record<string, { jsz?: object; varz?: object }> = {
      'nats.example:8222': {
        jsz: clustered('n2', 1),
        varz: { server_name: 'n0', connect_urls: ['10.0.0.1:4222', 'nats://[fd00::2]:4222', 'u@x:1', '::'] },
      },
      '10.0.0.1:8222': { jsz: clustered('n2', 2), varz: { server_name: 'n1' } },
      '[fd00::2]:8222': { jsz: clustered('n2', 3), varz: { server_name: 'n2' } },
    };
    const { query, requested } = system(servers);
    expect(await query.run(signal)).to.deep.equal([{ value: 3, labels: {} }]);
    requested.length = 0;
    expect(await query.run(signal)).to.deep.equal([{ value: 3, labels: {} }]);
    expect(new Set(requested.map((url) => url.split('/')[0]))).to.deep.equal(new Set(['[fd00::2]:8222']));
    servers['[fd00::2]:8222'] = {};
    servers['10.0.0.1:8222'] = { jsz: clustered('n1', 5), varz: { server_name: 'n1' } };
    expect(await query.run(signal)).to.deep.equal([{ value: 5, labels: {} }]);
  });

  it('finds the servers of a cluster by routes if there are no client URLs', async () => {
    const { query } = system({
      'nats.example:8222': {
        jsz: clustered('n1', 1),
        varz: { server_name: 'n0', cluster: { urls: ['nats-1:6222', '10.0.0.9:6222'] } },
      },
      'nats-1.nats.example:8222': { jsz: clustered('n1', 8), varz: { server_name: 'n1' } },
    });
    expect(await query.run(signal)).to.deep.equal([{ value: 8, labels: {} }]);
  });

  it('reports a missing leader, or a missing consumer', async () => {
    const lost = system({
      'nats.example:8222': { jsz: clustered('n9', 1), varz: { server_name: 'n0' } },
    });
    expect(await errorOf(lost.query.run(signal))).to.equal('leader node not found for consumer c');
    const none = system({
      'nats.example:8222': { jsz: { meta_cluster: { cluster_size: 3 } }, varz: { server_name: 'n0' } },
    });
    expect(await errorOf(none.query.run(signal))).to.equal('stream not found');
    const nameless = { meta_cluster: { cluster_size: 3 }, account_details: single.account_details };
    const unnamed = system({ 'nats.example:8222': { jsz: nameless, varz: {} } });
    expect(await errorOf(unnamed.query.run(signal))).to.equal('leader node not found for consumer c');
  });

  it('has a key that identifies account, stream and consumer without containing them', () => {
    const keys = [{}, { account: 'B' }, { stream: 'B' }, { consumer: 'B' }].map(
      (given) => system({}, given).query.key,
    );
    expect(new Set(keys).size).to.equal(4);
  });
});

type Detail = readonly [stream: string, consumer: string, pending: number, unacknowledged?: number];

function account(named: object, details: readonly Detail[], leader?: string) {
  const streams = [...Map.groupBy(details, ([stream]) => stream)].map(([name, its]) => ({
    name,
    consumer_detail: its.map(([, consumer, num_pending, num_ack_pending = 0]) => ({
      ...{ name: consumer, num_pending, num_ack_pending },
      ...(leader !== undefined && { cluster: { leader } }),
    })),
  }));
  return { ...named, stream_detail: streams };
}

/** Servers by host; missing servers and missing responses fail. */
function system(
  servers: Readonly<Record<string, { readonly jsz?: object; readonly varz?: object }>>,
  given: Partial<typeof DESIRED> = {},
) {
  const requested: string[] = [];
  const http = {
    credentialName: '',
    async exchange({ url }: { readonly url: URL }) {
      requested.push(`${url.host}${url.pathname}${url.search}`);
      const reported = servers[url.host]?.[url.pathname.slice(1) as 'jsz' | 'varz'];
      if (reported === undefined) throw new Error(`nobody responds at ${url.host}`);
      return { statusCode: 200, body: Buffer.from(JSON.stringify(reported)) };
    },
  } as unknown as JetstreamConsumer['http'];
  const endpoint = new URL('http://nats.example:8222');
  return { query: jetstreamLag({ http, endpoint, timeoutMs: 1000, ...DESIRED, ...given }), requested };
}
