// Numbers for people and for charts.

const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: true });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0, useGrouping: true });
const raised: Record<string, string> = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A number of an answer: those above 2^53 come as text. */
export function numberOf(value: unknown): number | undefined {
  const n = typeof value === "string" ? Number(value) : value;
  return typeof n === "number" && Number.isFinite(n) ? n : undefined;
}

/** 15 268 820, 21.7429, 5.75·10¹³. */
export function digits(value: number | undefined): string {
  if (value === undefined) return "";
  if (Math.abs(value) >= 1e15) {
    const [head = "", tail = ""] = value.toExponential(3).split("e");
    return `${head}·10${power(Number(tail))}`;
  }
  return (Number.isInteger(value) || Math.abs(value) >= 1e6 ? whole : small).format(value).replaceAll(",", "\u2009");
}

/** ⁶ */
export function power(exponent: number): string {
  return [...String(exponent)].map((c) => raised[c] ?? c).join("");
}

/** The label of a tick: 10⁶, but 1 000. */
export function tick(value: number): string {
  const exponent = Math.log10(value);
  if (value >= 1e5 && Number.isInteger(exponent)) return `10${power(exponent)}`;
  return digits(value);
}
