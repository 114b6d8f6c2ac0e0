/** Lines of a CSV file that no spreadsheet program takes for formulas, as `guarded` in Python. */

const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

export function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function cell(value: string): string {
  const text = guarded(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Return a file with a byte order mark, so that spreadsheet programs read it as UTF-8. */
export function csvText(header: readonly string[], lines: readonly (readonly string[])[]): string {
  return `\ufeff${[header, ...lines].map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}
