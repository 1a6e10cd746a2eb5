import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { type AuthenticationMethod, unionAuthenticator } from '#lib/apiserver/access/authenticator.ts';
import { ANONYMOUS, type User } from '#lib/apiserver/http/api-context.ts';
import { timedOut } from '#lib/apiserver/http/status-error.ts';

const credentials = { headers: {}, rawHeaders: [], socket: {} as TLSSocket };
const userOf = (name: string, ...groups: readonly string[]): User => ({ name, uid: '', groups, extra: {} });
const finding =
  (user: User): AuthenticationMethod =>
  () =>
    user;
const notTried: AuthenticationMethod = () => undefined;
const failing =
  (reason: string): AuthenticationMethod =>
  async () => {
    throw new Error(reason);
  };
const throwing =
  (reason: string): AuthenticationMethod =>
  () => {
    throw new Error(reason);
  };
const returning =
  (reason: string): AuthenticationMethod =>
  () =>
    new Error(reason);

/** The user that some methods identify, and the reasons of a rejection. */
async function outcomeOf(...methods: readonly AuthenticationMethod[]) {
  const refusals: unknown[] = [];
  const user = await unionAuthenticator(methods, (reasons) => refusals.push(...reasons))(credentials);
  return { user, refusals: refusals.map((reason) => (reason as Error).message) };
}

describe('unionAuthenticator', () => {
  it('returns the first user that is found, even after a failed attempt', async () => {
    const { user, refusals } = await outcomeOf(
      notTried,
      failing('no'),
      finding(userOf('a')),
      finding(userOf('b')),
    );
    expect(user?.name).to.equal('a');
    expect(refusals).to.deep.equal([]);
  });

  it('treats requests without credentials as anonymous, and refuses requests whose attempts all fail', async () => {
    expect((await outcomeOf(notTried, notTried)).user).to.equal(ANONYMOUS);
    for (const method of [failing, throwing, returning]) {
      expect(await outcomeOf(method('no'), notTried, method('never'))).to.deep.equal({
        user: undefined,
        refusals: ['no', 'never'],
      });
    }
  });

  it('adds the group of authenticated users once, and never to anonymous', async () => {
    const groupsOf = async (user: User) => (await outcomeOf(finding(user))).user?.groups;
    expect(await groupsOf(userOf('a', 'b'))).to.deep.equal(['b', 'system:authenticated']);
    expect(await groupsOf(userOf('a', 'system:authenticated'))).to.deep.equal(['system:authenticated']);
    expect(await groupsOf(userOf('a', 'system:unauthenticated'))).to.deep.equal(['system:unauthenticated']);
    expect(await groupsOf(userOf('system:anonymous'))).to.deep.equal([]);
  });

  it('reports a passed deadline as such, not as a refusal', async () => {
    const late: AuthenticationMethod = () => Promise.reject(timedOut());
    const lateAtOnce: AuthenticationMethod = () => {
      throw timedOut();
    };
    for (const method of [late, lateAtOnce]) {
      const failure = await outcomeOf(method, notTried).catch((error: unknown) => error);
      expect(failure).to.include({ code: 504 });
    }
  });
});
