export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly isOurs: boolean;
}

const width = 640;
const labelWidth = 210;
const rowHeight = 30;
const styles =
  "<style>text{font:13px system-ui,sans-serif;fill:#1f2430}.t{font-weight:600}@media(prefers-color-scheme:dark){text{fill:#e6e8ec}}</style>";

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
    styles,
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

export interface Point {
  /** Minutes. */
  readonly x: number;
  readonly y: number;
}

const [plotHeight, plotLeft, plotTop] = [180, 60, 40];

/** Renders a line over minutes as SVG, from 0. */
export function renderLineChart(title: string, unit: string, points: readonly Point[]): string {
  const maxX = Math.max(1, ...points.map(({ x }) => x));
  const maxY = Math.max(1, ...points.map(({ y }) => y)) * 1.1;
  const plotWidth = width - plotLeft - 20;
  const toX = (x: number) => (plotLeft + (x / maxX) * plotWidth).toFixed(1);
  const toY = (y: number) => (plotTop + plotHeight - (y / maxY) * plotHeight).toFixed(1);
  const ticks = [0, 0.5, 1].map((share) => share * maxY);
  const bottom = plotTop + plotHeight;
  const height = bottom + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    styles,
    `<text class="t" x="8" y="22">${title}${unit ? ` (${unit})` : ""}</text>`,
    ...ticks.map((tick) =>
      [
        `<text x="${plotLeft - 8}" y="${Number(toY(tick)) + 4}" text-anchor="end">${formatNumber(tick)}</text>`,
        `<path d="M${plotLeft} ${toY(tick)}H${width - 20}" stroke="#9099a6" stroke-opacity=".4"/>`,
      ].join(""),
    ),
    `<polyline fill="none" stroke="#2f6fd0" stroke-width="2" points="${points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(" ")}"/>`,
    `<text x="${plotLeft}" y="${bottom + 20}">0</text>`,
    `<text x="${width - 20}" y="${bottom + 20}" text-anchor="end">${formatNumber(maxX)} minutes</text>`,
    "</svg>\n",
  ].join("\n");
}
