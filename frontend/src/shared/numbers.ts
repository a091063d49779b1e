export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

/** Slow at both ends: a share of a way from a share of the time. */
export const ease = (share: number): number => share * share * (3 - 2 * share);

export const between = (one: number, other: number, share: number): number => one + (other - one) * share;

/** Place of the last row whose `key` is at most t, -1 if there is none; rows are ordered by it. */
export function lastAt<Key extends string>(
  rows: readonly Readonly<Record<Key, number>>[],
  t: number,
  key: Key,
): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.[key] ?? Number.POSITIVE_INFINITY) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const total = <Row>(rows: readonly Row[], read: (row: Row) => number | null | undefined): number =>
  rows.reduce((sum, row) => sum + (read(row) ?? 0), 0);

/** Rows by what a function reads of them, in their order. */
export function groupBy<Key, Row>(rows: Iterable<Row>, read: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const own = groups.get(read(row));
    if (own) own.push(row);
    else groups.set(read(row), [row]);
  }
  return groups;
}
