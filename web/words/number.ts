const NUMBER = /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/

/**
 * A typed number without its thousands separators; null if it is not one. A comma elsewhere may be a decimal point:
 * `99,50` must not become 9950.
 */
export function plainNumber(text: string): string | null {
  const typed = text.trim()
  return NUMBER.test(typed) ? typed.replaceAll(',', '') : null
}
