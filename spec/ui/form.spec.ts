import { expect } from 'chai';
import { type Field, FormValues, renderField, reportIssues } from '#lib/ui/form.ts';

const SIZE: Field = { name: 'size', label: 'Size', hint: 'A <number>.' };
const KIND: Field = { name: 'kind', label: 'Kind', options: ['a', 'b'] };

const valuesOf = (query: string) => new FormValues(new URLSearchParams(query));

describe('FormValues', () => {
  it('reads trimmed text, options and whole numbers', () => {
    const values = valuesOf('size=%2012%20&kind=b');
    expect([values.text(SIZE), values.whole(SIZE), values.text(KIND)]).to.deep.equal(['12', 12, 'b']);
    expect(valuesOf('kind=c').text(KIND)).to.equal('a');
    expect(valuesOf('').whole(SIZE)).to.equal(undefined);
    expect(values.hasProblems).to.equal(false);
  });

  it('reports values that are no whole number, or too long', () => {
    for (const text of ['-1', '1.5', 'x', '1e3', '1234567890']) {
      const values = valuesOf(`size=${text}`);
      expect(values.whole(SIZE), text).to.equal(undefined);
      expect(values.problemOf('size')).to.equal('must be a whole number, 0 or more');
    }
    expect(valuesOf(`size=${'1'.repeat(1024)}`).text(SIZE)).to.have.lengthOf(1024);
    const long = valuesOf(`size=${'1'.repeat(1025)}`);
    expect([long.text(SIZE), long.problemOf('size')]).to.deep.equal([
      ...['', 'must be no longer than 1024 characters'],
    ]);
  });

  it('retains the first problem of a field, and twenty of them', () => {
    const values = valuesOf('');
    values.report('size', 'one');
    values.report('size', 'two');
    for (let index = 0; index < 30; index++) {
      values.report(`f${index}`, 'bad');
      values.reportGeneral('bad');
    }
    expect(values.problemOf('size')).to.equal('one');
    expect([values.problemOf('f18'), values.problemOf('f19')]).to.deep.equal(['bad', undefined]);
    expect(values.general).to.have.lengthOf(20);
  });
});

describe('renderField', () => {
  it('escapes values, and shows a problem once the form was submitted', () => {
    const hostile = encodeURIComponent('"><img src=x>');
    const field = (query: string) => {
      const values = valuesOf(query);
      values.whole(SIZE);
      return renderField(SIZE, values).toString();
    };
    expect(field(`size=${hostile}`))
      .to.include('value="&quot;&gt;&lt;img src=x&gt;"')
      .and.to.not.include('must');
    expect(field(`name=a&size=${hostile}`))
      .to.include('aria-invalid="true"')
      .and.to.include('must be a whole number, 0 or more');
    expect(field('')).to.include('A &lt;number&gt;.').and.to.not.include('aria-invalid');
  });

  it('shows a warning in place of a problem, once the form was submitted', () => {
    const field = (query: string, problem?: string) => {
      const values = valuesOf(query);
      values.warn('size', 'unusual <size>');
      if (problem !== undefined) values.report('size', problem);
      expect(values.hasProblems).to.equal(problem !== undefined);
      return renderField(SIZE, values).toString();
    };
    expect(field('name=a'))
      .to.include('class="warning">unusual &lt;size&gt;<')
      .and.to.not.include('aria-invalid');
    expect(field('name=a', 'wrong')).to.include('class="refusal">wrong<').and.to.not.include('unusual');
    expect(field('')).to.not.include('unusual');
  });

  it('selects the chosen option', () => {
    expect(renderField(KIND, valuesOf('kind=b')).toString()).to.include(
      '<option>a</option><option selected>b</option>',
    );
  });
});

describe('reportIssues', () => {
  it('reports each at the field of its path, and others in general', () => {
    const values = valuesOf('');
    reportIssues(
      [
        { path: ['spec', 'size'], message: 'too big' },
        { path: ['constructor'], message: 'odd' },
      ],
      values,
      { 'spec.size': 'size' },
    );
    expect([values.problemOf('size'), values.general]).to.deep.equal(['too big', ['constructor: odd']]);
  });
});
