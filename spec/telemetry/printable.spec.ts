import { expect } from 'chai';
import fc from 'fast-check';
import { printable } from '#lib/telemetry/printable.ts';

describe('printable', () => {
  it('retains text of any script', () => {
    for (const text of ['', 'node "a" at 10.0.0.1:10250', 'Knoten für Ütöpiä', '節點 ✓ 🙂']) {
      expect(printable(text)).to.equal(text);
    }
  });

  it('escapes characters that end lines, clear the screen, change colors, reorder or hide text', () => {
    const cases: Readonly<Record<string, string>> = {
      'a\n  ✓ b': 'a\\n  ✓ b',
      'a\r\tb': 'a\\r\\tb',
      'a\x1b[2J\x1b[Hb': 'a\\u001b[2J\\u001b[Hb',
      'a\x9b2Jb\x7f\0': 'a\\u009b2Jb\\u007f\\u0000',
      'a\u202egpj.exe\u2066': 'a\\u202egpj.exe\\u2066',
      'a\u2028b\u2029c\u0085d': 'a\\u2028b\\u2029c\\u0085d',
      'a\u200bb\ufeffc\u{e0041}d': 'a\\u200bb\\ufeffc\\udb40\\udc41d',
    };
    for (const [text, shown] of Object.entries(cases)) expect(printable(text)).to.equal(shown);
  });

  it('retains the meaning of JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(JSON.stringify(text));
        expect(JSON.parse(shown)).to.equal(text);
        expect(shown).not.to.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
