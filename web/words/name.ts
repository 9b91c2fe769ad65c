export const MAX_NAME = 60
/** Printable and in one line, with no space at either end. */
const NAME = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u

/** Whether a text may be a person's name. */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text)
}
