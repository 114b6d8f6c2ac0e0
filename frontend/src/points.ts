/** The points of a note; `total_score` in Python says the same, and both are held to the same cases. */

export interface Worth {
  readonly weight: number;
  /** Features of one group count once; "" is no group. */
  readonly group: string;
}

/** A feature without a group is a group of its own; numbers and names are told apart. */
function keyOf(feature: Worth, number: number): string {
  return feature.group ? `group ${feature.group}` : `feature ${number}`;
}

/** Return the points of each feature: a group counts once, by the heaviest member found, the first of them. */
export function pointsOf(features: readonly Worth[], found: readonly (boolean | null | undefined)[]): number[] {
  const best = new Map<string, number>();
  features.forEach((feature, i) => {
    if (!found[i]) return;
    const key = keyOf(feature, i);
    const before = best.get(key);
    if (before === undefined || feature.weight > features[before]!.weight) best.set(key, i);
  });
  const counted = new Set(best.values());
  return features.map((feature, i) => (counted.has(i) ? feature.weight : 0));
}

/** Return what a note without penalties can get. */
export function mostPoints(features: readonly Worth[]): number {
  const most = new Map<string, number>();
  features.forEach((feature, i) => {
    const key = keyOf(feature, i);
    most.set(key, Math.max(most.get(key) ?? 0, feature.weight));
  });
  return sumOf([...most.values()]);
}

export function sumOf(values: readonly number[]): number {
  return Number(values.reduce((a, b) => a + b, 0).toFixed(10));
}

/** Penalties take a score down to 0 and no further, unless the rubric has no floor. */
export function totalOf(points: readonly number[], floor: boolean): number {
  const sum = sumOf(points);
  return floor ? Math.max(0, sum) : sum;
}
