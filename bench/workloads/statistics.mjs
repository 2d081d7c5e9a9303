/** The value below which a part of the values lies; NaN of none. */
export function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted.length === 0 ? Number.NaN : sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);
