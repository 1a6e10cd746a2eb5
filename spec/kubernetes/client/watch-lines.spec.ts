import { expect } from 'chai';
import fc from 'fast-check';
import { findText, latestLines } from '#lib/kubernetes/client/watch-lines.ts';
import { errorOf } from '#spec/support/error-of.ts';

const LONG = 'x'.repeat(64 * 1024);

interface EventInput {
  readonly type?: string;
  readonly uid: string;
  readonly namespace?: string;
  readonly n: number;
  readonly text?: string;
}

function event({ type = 'MODIFIED', uid, namespace = 'team-1', n, text = LONG }: EventInput): string {
  const annotations = { text: `\\"},{["uid":"other","${n}` };
  const metadata = { annotations, name: uid, namespace, resourceVersion: `${n}`, uid };
  return JSON.stringify({ type, object: { kind: 'ConfigMap', metadata, data: { text } } });
}

/** The lines that consumers take while time slices are granted one by one; each slice begins once all lines are read. */
async function takenOf(lines: readonly string[], turns: string[] = []): Promise<readonly string[]> {
  const taken: string[] = [];
  async function* stream() {
    yield* lines;
  }
  const latest = latestLines(stream(), {
    async beforeLong(namespace) {
      turns.push(`${namespace}`);
      for (let turn = 0; turn < 2 * lines.length + 10; turn++) await Promise.resolve();
    },
    leave: () => {},
  });
  for await (const line of latest) {
    const { type, object } = JSON.parse(line);
    taken.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);
  }
  return taken;
}

describe('latestLines', () => {
  it('returns the last long change of an object that waits, after earlier lines of others', async () => {
    const turns: string[] = [];
    const lines = [
      event({ uid: 'a', n: 1 }),
      event({ uid: 'a', n: 2 }),
      event({ uid: 'b', namespace: 'team-2', n: 3 }),
      event({ uid: 'a', n: 4 }),
      event({ uid: 'c', n: 5, text: 'short' }),
    ];
    expect(await takenOf(lines, turns)).to.deep.equal(['MODIFIED b 3', 'MODIFIED a 4', 'MODIFIED c 5']);
    expect(turns).to.deep.equal(['team-1', 'team-1']);
  });

  it('returns all short lines, additions, deletions, and lines without a UID', async () => {
    const short = [1, 2, 3].map((n) => event({ uid: 'a', n, text: 'short' }));
    const long = [
      event({ type: 'ADDED', uid: 'b', n: 4 }),
      event({ type: 'DELETED', uid: 'b', n: 5 }),
      event({ type: 'ADDED', uid: 'b', n: 6 }),
    ];
    const unnamed = [7, 8].map((n) => event({ uid: '', n }).replace('"uid":""', '"id":""'));
    expect(await takenOf([...short, ...long, ...unnamed])).to.have.length(8);
  });

  it('reads no further than 16 MiB ahead', async () => {
    let read = 0;
    async function* stream() {
      for (;;) yield event({ uid: `${read}`, n: read++, text: 'x'.repeat(1024 * 1024) });
    }
    const taken = latestLines(stream(), {
      beforeLong: () => new Promise((resolve) => setImmediate(resolve)),
      leave: () => {},
    });
    for (let lines = 0; lines < 3; lines++) {
      await taken.next();
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
      expect(read).to.be.within(lines + 2, lines + 18);
    }
    await taken.return();
  });

  it('throws what reading failed with after the lines before it, and leaves the stream', async () => {
    let hasLeft = false;
    async function* stream() {
      yield 'first';
      yield 'second';
      throw new Error('other side closed');
    }
    const lines: string[] = [];
    const taking = async () => {
      const leave = () => {
        hasLeft = true;
      };
      for await (const line of latestLines(stream(), { beforeLong: async () => {}, leave })) lines.push(line);
    };
    expect(await errorOf(taking())).to.equal('other side closed');
    expect(lines).to.deep.equal(['first', 'second']);
    expect(hasLeft).to.equal(true);
  });

  it('closes a silent stream when it is no longer read', async () => {
    const leaving = Promise.withResolvers<never>();
    async function* stream() {
      yield 'first';
      await leaving.promise;
    }
    const leave = () => leaving.reject(new Error('left'));
    for await (const _ of latestLines(stream(), { beforeLong: async () => {}, leave })) break;
    expect(await errorOf(leaving.promise)).to.equal('left');
  });
});

describe('findText', () => {
  it('finds what JSON.parse finds, of any compact JSON', () => {
    const path = ['object', 'metadata', 'uid'];
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), fc.string(), (one, two, three, uid) => {
        const json = JSON.stringify({
          ...{ type: one, two: [two, { uid: three }] },
          object: {
            kind: three,
            metadata: { annotations: { a: one, uid: two }, b: [three], uid },
            spec: two,
          },
        });
        const found = findText(json, path);
        expect(found).to.equal(JSON.stringify(uid).includes('\\') ? undefined : uid);
        expect(findText(json, ['object', 'metadata', 'name'])).to.equal(undefined);
      }),
    );
  });

  for (const json of [
    '',
    '{',
    '{"object"',
    '{"object":',
    '[1]',
    '{"object":{"metadata":"uid"}}',
    '{"object":3,',
    '"\\',
  ])
    it(`finds nothing in ${JSON.stringify(json)}`, () => {
      expect(findText(json, ['object', 'metadata', 'uid'])).to.equal(undefined);
    });
});
