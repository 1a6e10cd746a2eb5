import { expect } from 'chai';
import fc from 'fast-check';
import { html } from '#lib/ui/html.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';

describe('html', () => {
  it('escapes text and inserts HTML', () => {
    const inner = html`<b title="${'"a" & \'b\''}">${'<i>'}</b>`;
    expect(`${html`<p>${inner}${['x', html`<hr>`, 2]}</p>`}`).to.equal(
      '<p><b title="&quot;a&quot; &amp; &#39;b&#39;">&lt;i&gt;</b>x<hr>2</p>',
    );
  });

  it('renders absent values as empty, and 0 as 0', () => {
    expect(`${html`[${undefined}${null}${false}${0}${''}]`}`).to.equal('[0]');
  });

  it('shows characters that reorder or hide text as escapes, and retains line feeds', () => {
    expect(`${html`${'a\u202eb\u0000\nc'}`}`).to.equal('a\\u202eb\\u0000\nc');
  });

  it('escapes text that would end an element or an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(`${html`${text}`}`).not.to.match(/[<>"']/);
      }),
    );
  });

  it('renders in linear time', async () => {
    const textOf = (length: number) => '<&"\'>\u202e'.repeat(length / 6);
    const long = textOf(600_000);
    const rendered = (text: string) => `${html`${text}`}`;
    expect(rendered(long).length).to.be.greaterThan(long.length);
    expect(await growthOf(rendered, { short: textOf(9_000), long, parts: 64 })).to.include({
      isLinear: true,
    });
  });
});
