const NUMBER = /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/

/**
 * A number as it is typed, without the commas between its thousands; null when it is none. A comma anywhere else may be
 * somebody's decimal point: `99,50` must not become 9950.
 */
export function plainNumber(text: string): string | null {
  const typed = text.trim()
  return NUMBER.test(typed) ? typed.replaceAll(',', '') : null
}
