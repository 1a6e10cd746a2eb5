import jsep from 'jsep';

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** How tightly jsep has `**` bind. */
const POWER = 11;
/** How tightly it has others bind that mean something else to formulas. */
const OWN_XOR = 4;
const OWN_COALESCE = 1;

/**
 * Reads an expression of the language of formulas: that of jsep, with words for operators, `nil`, and predicates in
 * braces, in which `#` is the item at hand.
 *
 * @throws an Error that says what cannot be read, and where
 */
export function formulaTree(text: string): jsep.Expression {
  using _ = speakFormulas();
  return jsep(text);
}

/** jsep has one language for the whole process, so it has ours only while one formula is read. */
function speakFormulas(): Disposable {
  const hooks = jsep.hooks as unknown as Record<string, unknown[] | undefined>;
  const before = hooks['gobble-token'] ?? [];
  jsep.addIdentifierChar('#');
  jsep.addBinaryOp('and', 2);
  jsep.addBinaryOp('or', 1);
  jsep.addBinaryOp('in', 7);
  jsep.addUnaryOp('not');
  jsep.addLiteral('nil', null);
  // As in expr, the language of KEDA's formulas: a power whatever its sign, and what replaces nil before anything else.
  jsep.addBinaryOp('^', POWER, true);
  jsep.addBinaryOp('??', POWER + 1);
  hooks['gobble-token'] = [...before, gobblePredicate];
  return {
    [Symbol.dispose]() {
      jsep.removeIdentifierChar('#');
      for (const operator of ['and', 'or', 'in']) jsep.removeBinaryOp(operator);
      jsep.removeUnaryOp('not');
      jsep.removeLiteral('nil');
      jsep.addBinaryOp('^', OWN_XOR);
      jsep.addBinaryOp('??', OWN_COALESCE);
      hooks['gobble-token'] = before;
    },
  };
}

function gobblePredicate(this: jsep.HookScope, env: { node?: jsep.Expression }): void {
  if (this.code !== OPEN_BRACE) return;
  this.index++;
  const [body] = this.gobbleExpressions(CLOSE_BRACE);
  if (Number(this.code) !== CLOSE_BRACE) this.throwError('Unclosed {');
  this.index++;
  if (!body) this.throwError('Expected an expression in {}');
  env.node = { type: 'Predicate', body };
}
