export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly isOurs: boolean;
}

const width = 640;
const labelWidth = 210;
const rowHeight = 30;

/** Renders a horizontal bar chart as SVG, in colours that can be read on light and dark pages. */
export function renderBarChart(title: string, unit: string, bars: readonly Bar[]): string {
  const longest = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ label, value, isOurs }, index) => {
    const y = 40 + index * rowHeight;
    const length = Math.max(1, (value / longest) * (width - labelWidth - 90));
    return [
      `<text x="${labelWidth - 8}" y="${y + 15}" text-anchor="end">${label}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="20" fill="${isOurs ? "#2f6fd0" : "#9099a6"}"/>`,
      `<text x="${(labelWidth + length + 6).toFixed(1)}" y="${y + 15}">${formatNumber(value)} ${unit}</text>`,
    ].join("");
  });
  const height = 40 + bars.length * rowHeight + 6;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    "<style>text{font:13px system-ui,sans-serif;fill:#1f2430}.t{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#e6e8ec}}</style>",
    `<text class="t" x="8" y="22">${title}</text>`,
    ...rows,
    "</svg>\n",
  ].join("\n");
}

/** Formats a number with three significant digits, as people read it. */
export function formatNumber(value: number): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
