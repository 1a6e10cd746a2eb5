const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Orders versions as Kubernetes does, the preferred first: v2, v1, v1beta2, v1beta1, v1alpha1, then all others. */
export function compareVersions(left: string, right: string): number {
  const ranks = [rankOf(left), rankOf(right)] as const;
  for (const [index, rank] of ranks[0].entries()) {
    const difference = (ranks[1][index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

function rankOf(version: string): readonly number[] {
  const [, major, stability, minor] = VERSION.exec(version) ?? [];
  if (major === undefined) return [-1, 0, 0];
  return [stability === undefined ? 2 : stability === 'beta' ? 1 : 0, Number(major), Number(minor ?? 0)];
}
