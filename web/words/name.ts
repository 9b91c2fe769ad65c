export const MAX_NAME = 60
/** Printable and in one line, with no space at either end. */
const NAME = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u

/** Whether a text may be a person's name. */
export function isName(text: string): boolean {
  return text.length <= MAX_NAME && NAME.test(text)
}

/** Not a printable character of ASCII: the registry takes no other. */
const UNREGISTRABLE = /[^\x20-\x7e]/u

/** Why the registry would refuse the name of an institution; null if it would not, and while the name is empty. */
export function institutionNameFault(name: string): string | null {
  const found = UNREGISTRABLE.exec(name)?.[0]
  if (found === undefined) return null
  return `“${found}” cannot be in the name: use letters without accents, digits, spaces and the punctuation of an English keyboard.`
}
