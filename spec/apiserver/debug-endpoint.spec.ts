import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';

describe('debugEndpoint', () => {
  it('returns the report as indented JSON without control characters', () => {
    const context = requested('?name=a%1B');
    expect(String(context.body)).to.equal('{\n  "name": "a\\u001b"\n}\n');
    expect(context.res.getHeader('Content-Type')).to.equal('application/json');
    expect(String(requested('', 'HEAD').body)).to.equal('{\n  "name": null\n}\n');
  });

  it('writes what JSON leaves as it is, and a terminal would obey, in another way', () => {
    expect(String(requested('?name=%C2%9B2J').body)).not.to.include('\u009b');
  });

  it('refuses other methods, and parameters that mean nothing to it', () => {
    expect(() => requested('', 'POST'))
      .to.throw()
      .with.property('code', 405);
    expect(() => requested('?nmae=a'))
      .to.throw('unknown query parameter "nmae": supported: name')
      .with.property('code', 400);
  });
});

function requested(search: string, method = 'GET'): ApiContext {
  const request = Object.assign(new IncomingMessage(new Socket()), { method });
  const context = new Koa<RequestState>().createContext(
    request,
    new ServerResponse(request),
  ) as unknown as ApiContext;
  context.state.query = new URLSearchParams(search);
  void debugEndpoint(['name'], (query) => ({ name: query.get('name') }))(context);
  return context;
}
