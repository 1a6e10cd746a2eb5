import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { pageFile, SHARED_STYLE } from '#lib/ui/page-endpoint.ts';
import { servePage } from '#spec/support/served-page.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

describe('pageFile', () => {
  it('concatenates files', async () => {
    await using folder = await TemporaryDirectory.create();
    const own = pathToFileURL(`${folder.path}/own.css`);
    await writeFile(own, 'own {}');
    await using server = await servePage(pageFile('css', SHARED_STYLE, own));
    const { status, body, headers } = await server.get();
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/css; charset=utf-8');
    expect(body.startsWith(':root {')).to.equal(true);
    expect(body.endsWith('own {}')).to.equal(true);
  });

  it('sets security headers', async () => {
    await using server = await servePage(pageFile('css', SHARED_STYLE));
    const { headers } = await server.get();
    expect(headers['content-security-policy'])
      .to.include("default-src 'none'")
      .and.to.include("frame-ancestors 'none'");
    expect(headers['x-content-type-options']).to.equal('nosniff');
    expect(headers['referrer-policy']).to.equal('no-referrer');
  });

  it('accepts only GET and HEAD', async () => {
    await using server = await servePage(pageFile('css', SHARED_STYLE));
    expect((await server.get('', { method: 'HEAD' })).status).to.equal(200);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      expect((await server.get('', { method })).status, method).to.equal(405);
    }
  });

  it('reads a file again after a read error', async () => {
    await using folder = await TemporaryDirectory.create();
    const file = pathToFileURL(`${folder.path}/late.html`);
    await using server = await servePage(pageFile('html', file));
    expect((await server.get()).status).to.equal(500);
    await writeFile(file, 'late');
    expect((await server.get()).body).to.equal('late');
  });
});
