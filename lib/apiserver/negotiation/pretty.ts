const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const HUMAN_AGENTS = ['curl', 'Wget', 'Mozilla/5.0'];

/** Whether JSON is to be indented: when `?pretty` says so, or when it says nothing and a human seems to read. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked) return TRUE_WORDS.has(asked);
  return HUMAN_AGENTS.some((agent) => userAgent.startsWith(agent));
}
