import { expect } from 'chai';
import { jsonExtract } from '#lib/sources/json/json-extract.ts';
import type { AggregatorName } from '#lib/sources/sample.ts';

const BODY = Buffer.from(
  '{"a": 1.5, "list": [1, 2, 6], "mixed": [1, "2"], "empty": [], "text": "5", "yes": true, "none": null, "o": {},' +
    ' "huge": 1e400, "nodes": [{"n": 4}, {"n": 8}], "twice": 1, "twice": 2, "max": 1.7e308}',
);

describe('jsonExtract', () => {
  const values: readonly (readonly [string, AggregatorName | undefined, number])[] = [
    ['$.a', undefined, 1.5],
    ['$.a', 'max', 1.5],
    ['$.list', 'avg', 3],
    ['$.list', 'min', 1],
    ['$.list', 'max', 6],
    ['$.list', 'sum', 9],
    ['$.nodes[*].n', 'avg', 6],
    ['$.twice', undefined, 2],
  ];
  for (const [path, aggregator, value] of values)
    it(`makes ${value} of ${path} by ${aggregator ?? 'no aggregator'}`, () => {
      const extract = jsonExtract({ form: 'path', text: path, aggregator });
      expect(extract.numberIn(BODY)).to.equal(value);
    });

  const refused: readonly (readonly [string, AggregatorName | undefined, string])[] = [
    ['$.missing', undefined, 'the response has no such value'],
    ['$.missing', 'sum', 'the response has no such value'],
    ['$.list', undefined, 'there are several values, and no aggregator'],
    ['$.nodes[*].n', undefined, 'there are several values, and no aggregator'],
    ['$.empty', 'sum', 'the array is empty'],
    ['$.empty', 'avg', 'the array is empty'],
    ['$.mixed', 'sum', 'the value is of type string, not a number'],
    ['$.text', undefined, 'the value is of type string, not a number'],
    ['$.yes', undefined, 'the value is of type boolean, not a number'],
    ['$.none', undefined, 'the value is of type null, not a number'],
    ['$.o', undefined, 'the value is of type object, not a number'],
    ['$.huge', undefined, 'the value is Infinity, which is no number that can be served'],
    ["$['max','max']", 'sum', 'the value is Infinity, which is no number that can be served'],
  ];
  for (const [path, aggregator, error] of refused)
    it(`has no number for ${path} by ${aggregator ?? 'no aggregator'}`, () => {
      const extract = jsonExtract({ form: 'path', text: path, aggregator });
      expect(() => extract.numberIn(BODY)).to.throw(Error, error);
    });

  it('computes an expression', () => {
    const numberIn = (text: string, aggregator?: AggregatorName) =>
      jsonExtract({ form: 'expression', text, aggregator }).numberIn(BODY);
    expect(numberIn('ceil($.a * 10) / 3')).to.equal(5);
    expect(numberIn('$.list', 'max')).to.equal(6);
    expect(() => numberIn('$.a > 1')).to.throw('the value is of type boolean, not a number');
    expect(() => numberIn('sqrt(-1)')).to.throw('the value is NaN, which is no number that can be served');
    expect(() => numberIn('$.max * 10')).to.throw('the value is Infinity');
  });

  it('refuses a path or an expression that is none before anything is asked', () => {
    expect(() => jsonExtract({ form: 'path', text: 'a' })).to.throw('must have "$" at character 1, not "a"');
    expect(() => jsonExtract({ form: 'expression', text: '1+' })).to.throw(
      'must have a value at character 3',
    );
  });
});
