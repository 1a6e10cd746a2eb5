/** A piece of a label selector: an operator or bracket is its own kind, anything else is a word. */
export interface LabelToken {
  readonly kind: '(' | ')' | ',' | '!' | '!=' | '=' | '==' | '>' | '<' | 'in' | 'notin' | 'word' | 'end';
  readonly text: string;
}

// A NUL ends the text when a token is expected and is swallowed behind one, as in Kubernetes' lexer.
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),<>])\0?|([^=!(),<> \t\r\n\0]+)\0?)/gy;

/** Splits a label selector into its tokens; the last one is always the end. */
export function lexLabelSelector(text: string): readonly LabelToken[] {
  const tokens: LabelToken[] = [];
  for (const [, symbol, word] of text.matchAll(TOKEN)) {
    tokens.push(
      symbol === undefined ? wordToken(word ?? '') : { kind: symbol as LabelToken['kind'], text: symbol },
    );
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function wordToken(text: string): LabelToken {
  return { kind: text === 'in' || text === 'notin' ? text : 'word', text };
}
